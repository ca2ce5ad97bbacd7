#include "exec/strategies/loop/gpu_loop.hpp"

#include <algorithm>
#include <utility>

#include "backend/gpu/vendor.hpp"
#include "exec/calibration.hpp"
#include "exec/gpu/gpu_machine.hpp"
#include "kernels/calibration.hpp"

namespace gpulog::exec {

namespace gpu_kernels = kernels::gpu;
using gpu_kernels::loop_index;
using gpu_kernels::loop_patch;
using gpu_kernels::loop_phase;
using gpu_kernels::loop_relation;
using gpu_kernels::loop_state;
using gpu_kernels::loop_status;
using gpu_kernels::loop_task;
using gpu_kernels::loop_threads;
using gpu_kernels::loop_totals;
using gpu_kernels::no_relation;
using kernels::expansion_kind;
using kernels::relation_number;
using kernels::segment;
using kernels::step;
using kernels::step_kind;
using storage::gpu::key_slot;
using storage::gpu::loop_runs;
using storage::gpu::run_view;
using storage::gpu::set_view;
using storage::gpu::small_run;

namespace {

constexpr std::uint32_t most_left_out = 63;

/// Calls action(relation, index number, level) for each search of a pipeline.
template <class Action>
void for_each_search(const kernels::pipeline& program, const Action& action) {
  for (const segment& one : program.segments) {
    if (one.kind == expansion_kind::match && one.choices.empty()) action(one.source, one.index);
    for (const kernels::search_choice& choice : one.choices) action(choice.source, choice.index);
    for (const step& test : one.steps) {
      if (test.kind == step_kind::exists_key) action(test.source, test.index);
    }
  }
}

bool fits(const storage::index_layout& layout) {
  return layout.sorted_columns() <= small_run::most_columns && layout.stored.size() <= small_run::most_columns &&
         layout.key_lengths.size() <= small_run::most_levels;
}

std::uint64_t table_share_of(const storage::index_layout& layout) {
  return static_cast<std::uint64_t>(1 / layout.load + 0.999);
}

/// Layout of the memory for an index's runs, in 64-bit words: tables, first rows, keys, stored columns.
struct run_memory {
  run_memory(const storage::index_layout& layout, std::uint64_t rows) {
    const std::uint64_t runs = loop_runs::places;
    for (const std::uint32_t length : layout.key_lengths) {
      tables.push_back(take(runs * (rows * table_share_of(layout) + 2) * sizeof(key_slot)));
      firsts.push_back(take(runs * (rows + 1) * sizeof(std::uint32_t)));
      keys.push_back(take(runs * rows * length * sizeof(word)));
    }
    stored = take(runs * rows * layout.stored.size() * sizeof(word));
  }
  std::uint64_t take(std::uint64_t bytes) {
    return std::exchange(words, words + (bytes + sizeof(key_slot) - 1) / sizeof(key_slot) * 2);
  }
  std::uint64_t words = 0;
  std::vector<std::uint64_t> tables;
  std::vector<std::uint64_t> firsts;
  std::vector<std::uint64_t> keys;
  std::uint64_t stored = 0;
};
static_assert(sizeof(key_slot) == 2 * sizeof(std::uint64_t));

}  // namespace

/// Tasks of a phase, with the places that depend on sizes.
struct gpu_loop::task_list {
  std::vector<loop_task> tasks;
  std::vector<loop_patch> patches;
  loop_task* on_device = nullptr;  ///< future device address of the tasks
};

bool gpu_loop::can_run(const backend::gpu::device_context& context, const looped_stratum& stratum,
                       const relation_list& relations) {
  std::vector<bool> extended(relations.size(), false);
  for (const looped_stratum::relation& one : stratum.relations) extended[one.number] = true;
  for (const looped_phase& phase : stratum.phases) {
    for (const relation_number number : phase.advanced) {
      if (!extended[number]) return false;
    }
    for (const looped_version& version : phase.versions) {
      const kernels::pipeline& program = *version.program;
      if (!extended[program.target] || !gpu_kernels::is_nest(program) ||
          gpu_kernels::loop_shared_words(program.slot_count, program.constants.size()) >
              gpu_kernels::most_loop_shared_words(context)) {
        return false;
      }
      if (gpu_machine::reads_kept_rows(program, relations)) return false;
      bool indexes_fit = true;
      for_each_search(program, [&](relation_number source, std::size_t index) {
        if (extended[source] && !fits(relations[source]->index(index).layout())) indexes_fit = false;
      });
      if (!indexes_fit) return false;
    }
  }
  return true;
}

gpu_loop::gpu_loop(const backend::gpu::device_context& context, backend::memory_resource& resource,
                   storage::gpu::small_run_builder& small, const cut_offs& cut, looped_stratum stratum,
                   relation_list& relations, steps_maker steps)
    : context_(&context),
      small_(&small),
      cut_(cut),
      stratum_(std::move(stratum)),
      relations_(&relations),
      steps_(std::move(steps)),
      arena_(context, resource),
      places_(relations.size(), no_relation) {
  for (std::uint32_t r = 0; r < stratum_.relations.size(); ++r) places_[stratum_.relations[r].number] = r;
  for (const looped_phase& phase : stratum_.phases) {
    for (const looped_version& version : phase.versions) {
      slot_count_ = std::max(slot_count_, version.program->slot_count);
      constant_count_ = std::max(constant_count_, static_cast<std::uint32_t>(version.program->constants.size()));
      for_each_search(*version.program, [&](relation_number source, std::size_t number) {
        if (place_of(source) == no_relation || index_of(source, number) != indexes_.size()) return;
        index_memory& made = indexes_.emplace_back(resource);
        made.relation = source;
        made.number = number;
      });
    }
  }
}

/// @return the number of indexes if the index does not exist
std::uint32_t gpu_loop::index_of(relation_number source, std::size_t number) const {
  const auto found = std::find_if(indexes_.begin(), indexes_.end(), [&](const index_memory& one) {
    return one.relation == source && one.number == number;
  });
  return static_cast<std::uint32_t>(found - indexes_.begin());
}

std::uint64_t gpu_loop::most_rows_of(const looped_version& version) const {
  const double candidates = static_cast<double>(cut_.loop_rows * calibration::candidates_per_loop_row);
  return std::min(cut_.loop_rows, static_cast<std::uint64_t>(candidates / std::max(1.0, *version.candidates_per_row)));
}

bool gpu_loop::is_worth_it(std::size_t first_phase) const {
  for (const looped_version& version : stratum_.phases[first_phase].versions) {
    if (kernels::input_rows(*version.program, *relations_) > most_rows_of(version)) return false;
  }
  for (const looped_phase& phase : stratum_.phases) {
    for (const looped_version& version : phase.versions) {
      const auto& segments = version.program->segments;
      for (std::size_t s = 1; s < segments.size(); ++s) {
        // Positions have 32 bits.
        const bool is_product = segments[s].kind == expansion_kind::scan;
        if (is_product && (*relations_)[segments[s].source]->rows() > UINT32_MAX / 2) return false;
      }
    }
  }
  // The next delta is probably about as large as the current delta.
  return std::all_of(indexes_.begin(), indexes_.end(), [this](const index_memory& one) {
    const relation& source = *(*relations_)[one.relation];
    const std::uint64_t most_rows = run_rows_ == 0 ? cut_.loop_run_rows : run_rows_;
    return source.delta_rows() <= most_rows && source.index(one.number).views(false, true, 0).size() <= 1;
  });
}

bool gpu_loop::may_be_one_block() const { return indexes_.size() <= calibration::indexes_of_one_block; }

unsigned gpu_loop::blocks_needed() const {
  std::uint64_t most = 0;
  for (const looped_phase& phase : stratum_.phases) {
    std::uint64_t shares = 0;
    for (const looped_version& version : phase.versions) {
      const std::uint64_t rows = kernels::input_rows(*version.program, *relations_);
      shares += (rows + gpu_kernels::share_rows - 1) / gpu_kernels::share_rows;
    }
    most = std::max(most, shares);
  }
  if (may_be_one_block() && most <= kernels::calibration::shares_of_one_block) return 1;
  // Leave space for larger deltas.
  constexpr std::uint64_t waves = loop_threads / backend::gpu::wave_size;
  const std::uint64_t blocks = std::max<std::uint64_t>((2 * most + waves - 1) / waves, indexes_.size());
  return static_cast<unsigned>(std::clamp<std::uint64_t>(blocks, calibration::least_loop_blocks, most_blocks_));
}

bool gpu_loop::make_room(unsigned blocks) {
  const std::uint64_t threads = static_cast<std::uint64_t>(blocks) * loop_threads;
  try {
    for (const looped_phase& phase : stratum_.phases) {
      for (const looped_version& version : phase.versions) {
        relation& target = *(*relations_)[version.program->target];
        if (target.arity() == 0 || target.room() >= threads + calibration::loop_room) continue;
        target.grow(threads + 2 * calibration::loop_room, false);
        target.release_outgrown();
      }
    }
    return allocate_indexes();
  } catch (const backend::memory_exceeded&) {
    return false;  // the regular loop needs less memory, or reports the shortage
  }
}

bool gpu_loop::allocate_indexes() {
  if (run_rows_ != 0 || indexes_.empty()) return true;
  const auto words = [&](std::uint64_t rows) {
    std::uint64_t sum = 0;
    for (const index_memory& one : indexes_) {
      sum += run_memory((*relations_)[one.relation]->index(one.number).layout(), rows).words;
    }
    return sum;
  };
  std::uint64_t rows = std::min<std::uint64_t>(cut_.loop_run_rows, small_run::most_rows);
  while (words(rows) * sizeof(std::uint64_t) > calibration::loop_index_bytes && rows > calibration::least_loop_run_rows)
    rows /= 2;
  for (index_memory& one : indexes_) {
    const run_memory memory((*relations_)[one.relation]->index(one.number).layout(), rows);
    one.words = backend::array<std::uint64_t>(one.words.resource(), memory.words, backend::fresh_memory::anything);
  }
  run_rows_ = rows;
  return true;
}

std::vector<loop_index> gpu_loop::put_indexes() {
  std::vector<loop_index> made;
  for (const index_memory& one : indexes_) {
    const relation& source = *(*relations_)[one.relation];
    const storage::gpu::device_index& index = source.index(one.number);
    const storage::index_layout& layout = index.layout();
    const run_memory memory(layout, run_rows_);
    std::uint64_t* const words = const_cast<std::uint64_t*>(one.words.data());
    loop_index& shown = made.emplace_back();
    shown.relation = place_of(one.relation);
    shown.sorted_columns = layout.sorted_columns();
    shown.stored_columns = static_cast<std::uint32_t>(layout.stored.size());
    shown.level_count = static_cast<std::uint32_t>(layout.key_lengths.size());
    for (std::uint32_t c = 0; c < shown.sorted_columns; ++c) shown.order[c] = source.column(layout.order[c]);
    for (std::uint32_t s = 0; s < shown.stored_columns; ++s) shown.copied[s] = source.column(layout.stored[s]);
    shown.most_rows = run_rows_;
    shown.table_share = table_share_of(layout);
    shown.stored = reinterpret_cast<word*>(words + memory.stored);
    for (std::uint32_t l = 0; l < shown.level_count; ++l) {
      const std::vector<run_view> old = index.views(true, false, l);
      const std::vector<run_view> delta = index.views(false, true, l);
      std::vector<run_view> views(loop_index::most_views);
      if (!delta.empty()) views[0] = delta.front();
      std::copy(old.begin(), old.end(), views.begin() + 1);
      shown.host_runs = static_cast<std::uint32_t>(old.size());
      shown.has_host_delta = delta.empty() ? 0 : 1;
      loop_index::level& level = shown.levels[l];
      level.length = layout.key_lengths[l];
      level.table = reinterpret_cast<key_slot*>(words + memory.tables[l]);
      level.first = reinterpret_cast<std::uint32_t*>(words + memory.firsts[l]);
      level.keys = reinterpret_cast<word*>(words + memory.keys[l]);
      level.views = const_cast<run_view*>(arena_.put(views));
    }
  }
  return made;
}

void gpu_loop::put_task(const looped_version& version, task_list& made) {
  const kernels::pipeline& program = *version.program;
  const auto put = [this](const auto& values) { return arena_.put(values); };
  const auto steps = [this](const std::vector<step>& of) { return steps_(of, arena_); };
  loop_task& task = made.tasks.emplace_back();
  task.body = gpu_kernels::nested_body_of<run_view, set_view>(program, *relations_, true, put, steps);
  task.set = (*relations_)[program.target]->set();
  task.target = place_of(program.target);
  task.most_rows = most_rows_of(version);
  const segment& first = program.segments.front();
  if (first.kind == expansion_kind::scan) {
    task.outer = place_of(first.source);
    task.part = first.part;
  }
  const auto note_steps = [&](const segment& here, const gpu_kernels::hash_step* on_device) {
    for (std::size_t s = 0; s < here.steps.size(); ++s) {
      const step& one = here.steps[s];
      const bool is_key = one.kind == step_kind::exists_key;
      if ((!is_key && one.kind != step_kind::exists_any) || place_of(one.source) == no_relation) continue;
      auto* const shown = const_cast<gpu_kernels::hash_step*>(on_device) + s;
      if (is_key) {
        made.patches.push_back({loop_patch::kind::runs, one.part, index_of(one.source, one.index),
                                static_cast<std::uint32_t>(one.level), &shown->runs, &shown->run_count});
      } else {
        std::uint32_t* const is_idle = &made.on_device[made.tasks.size() - 1].is_idle;
        made.patches.push_back(
            {loop_patch::kind::holds, one.part, place_of(one.source), 0, &shown->holds, nullptr, is_idle, one.negated});
      }
    }
  };
  std::size_t level = 0;
  for (std::size_t s = 0; s < program.segments.size(); ++s) {
    const segment& here = program.segments[s];
    if (s == 0 && here.kind != expansion_kind::match) {
      note_steps(here, task.body.steps);
      continue;
    }
    auto* const on_device = const_cast<gpu_kernels::nested_level<run_view, set_view>*>(task.body.levels) + level;
    note_steps(here, arena_.on_host(on_device)->steps);
    ++level;
    for (std::size_t c = 0; c < here.choices.size(); ++c) {
      const kernels::search_choice& choice = here.choices[c];
      if (place_of(choice.source) == no_relation) continue;
      auto* const shown =
          const_cast<gpu_kernels::nested_choice<run_view, set_view>*>(arena_.on_host(on_device)->choices) + c;
      made.patches.push_back({loop_patch::kind::runs, row_part::all, index_of(choice.source, choice.index),
                              static_cast<std::uint32_t>(choice.level), &shown->runs, &shown->run_count});
    }
    if (place_of(here.source) == no_relation || !here.choices.empty()) continue;
    if (here.kind == expansion_kind::match) {
      made.patches.push_back({loop_patch::kind::runs, here.part, index_of(here.source, here.index),
                              static_cast<std::uint32_t>(here.level), &on_device->runs, &on_device->run_count});
    } else {
      made.patches.push_back({loop_patch::kind::range, here.part, place_of(here.source), 0, &on_device->whole});
    }
  }
}

gpu_kernels::loop_arguments gpu_loop::put_all(unsigned blocks) {
  const std::uint64_t threads = static_cast<std::uint64_t>(blocks) * loop_threads;
  arena_.clear();
  const auto put = [this](const auto& values) {
    return const_cast<std::remove_const_t<typename std::remove_cvref_t<decltype(values)>::value_type>*>(
        arena_.put(values));
  };
  gpu_kernels::loop_arguments arguments;
  std::size_t task_count = 0;
  std::size_t most_tasks = 0;
  for (const looped_phase& phase : stratum_.phases) {
    task_count += phase.versions.size();
    most_tasks = std::max(most_tasks, phase.versions.size());
  }
  // The arrays to read back come first.
  arguments.state = put(std::vector<loop_state>(1));
  std::vector<loop_relation> relations;
  for (const looped_stratum::relation& one : stratum_.relations) {
    relation& shown = *(*relations_)[one.number];
    const std::uint64_t safe_rows = shown.arity() == 0 ? 0 : shown.limit() - std::min(shown.limit(), threads);
    relations.push_back({shown.counter(), shown.old_rows(), shown.rows(), safe_rows, 0, one.is_counted ? 1U : 0U});
  }
  arguments.relations = put(relations);
  arguments.relation_count = static_cast<std::uint32_t>(relations.size());
  arguments.totals = put(std::vector<loop_totals>(task_count));
  results_bytes_ = arena_.bytes();

  arguments.tasks = put(std::vector<loop_task>(task_count));
  const std::vector<loop_index> indexes = put_indexes();
  arguments.indexes = put(indexes);
  arguments.builds = put(std::vector<gpu_kernels::loop_build>(2 * indexes.size()));
  arguments.first_shares = put(std::vector<std::uint32_t>(most_tasks));
  std::vector<loop_phase> phases;
  std::vector<loop_task> tasks;
  for (const looped_phase& phase : stratum_.phases) {
    loop_phase& shown = phases.emplace_back();
    task_list made;
    made.on_device = arguments.tasks + tasks.size();
    for (const looped_version& version : phase.versions) put_task(version, made);
    shown.first_task = static_cast<std::uint32_t>(tasks.size());
    shown.task_count = static_cast<std::uint32_t>(made.tasks.size());
    tasks.insert(tasks.end(), made.tasks.begin(), made.tasks.end());
    shown.patches = arena_.put(made.patches);
    shown.patch_count = static_cast<std::uint32_t>(made.patches.size());
    std::vector<std::uint32_t> advanced;
    for (const relation_number number : phase.advanced) advanced.push_back(place_of(number));
    shown.advanced = arena_.put(advanced);
    shown.advanced_count = static_cast<std::uint32_t>(advanced.size());
    std::vector<std::uint32_t> followers;
    for (std::uint32_t i = 0; i < indexes.size(); ++i) {
      if (std::find(advanced.begin(), advanced.end(), indexes[i].relation) != advanced.end()) followers.push_back(i);
    }
    shown.indexes = arena_.put(followers);
    shown.index_count = static_cast<std::uint32_t>(followers.size());
  }
  std::copy(tasks.begin(), tasks.end(), arena_.on_host(arguments.tasks));
  arguments.phases = arena_.put(phases);
  arguments.phase_count = static_cast<std::uint32_t>(phases.size());
  arguments.slot_count = slot_count_;
  arguments.constant_count = constant_count_;
  arguments.may_shrink = may_be_one_block();
  arguments.most_candidates = cut_.loop_rows * calibration::candidates_per_loop_row;
  return arguments;
}

looped_iterations gpu_loop::run(std::size_t first_phase) {
  looped_iterations done;
  done.next_phase = first_phase;
  if (left_out_ != 0) {
    --left_out_;
    return done;
  }
  if (!is_worth_it(first_phase)) return done;
  small_->flush();
  const std::size_t shared_words = gpu_kernels::loop_shared_words(slot_count_, constant_count_);
  if (most_blocks_ == 0) most_blocks_ = gpu_kernels::most_loop_blocks(*context_, shared_words);
  if (most_blocks_ == 0) return done;  // the registers of all rules exceed the shared memory of a block
  const unsigned blocks = blocks_needed();
  if (!make_room(blocks)) return done;
  gpu_kernels::loop_arguments arguments = put_all(blocks);
  if (!arena_.upload()) {
    arguments = put_all(blocks);
    static_cast<void>(arena_.upload());
  }
  arguments.first_phase = static_cast<std::uint32_t>(first_phase);
  gpu_kernels::run_loop(*context_, arguments, blocks, shared_words);
  arena_.download(results_bytes_);

  const loop_state& ended = *arena_.on_host(arguments.state);
  const loop_relation* const sizes = arena_.on_host(arguments.relations);
  for (std::size_t r = 0; r < stratum_.relations.size(); ++r) {
    (*relations_)[stratum_.relations[r].number]->set_sizes(sizes[r].old_rows, sizes[r].rows, sizes[r].tail);
  }
  const loop_totals* const totals = arena_.on_host(arguments.totals);
  std::size_t t = 0;
  bool has_found_any = false;
  for (const looped_phase& phase : stratum_.phases) {
    for (const looped_version& version : phase.versions) {
      const loop_totals& one = totals[t++];
      done.versions.push_back({one.runs, one.candidates, one.fresh});
      has_found_any = has_found_any || one.fresh != 0;
      if (one.fault != 0 && done.faulty == nullptr) done.faulty = version.program;
    }
  }
  done.has_run = true;
  done.next_phase = ended.next_phase;
  done.deltas.assign(ended.deltas, ended.deltas + ended.iterations);
  const bool has_moved = ended.iterations != 0 || ended.next_phase != first_phase || has_found_any;
  done.goes_on = ended.status == loop_status::paused || (ended.status == loop_status::full && has_moved);
  learn(ended);
  return done;
}

/// Decides whether to skip the kernel for some iterations.
void gpu_loop::learn(const loop_state& ended) {
  if (ended.iterations >= calibration::iterations_of_a_launch) {
    next_left_out_ = 0;
  } else if (ended.status == loop_status::large) {
    next_left_out_ = std::min(2 * next_left_out_ + 1, most_left_out);
    left_out_ = next_left_out_;
  }
}

std::unique_ptr<iteration_runner> gpu_machine::make_iteration_runner(looped_stratum stratum,
                                                                     kernels::relation_list<relation>& relations) {
  if (cut_.loop_rows == 0 || !gpu_loop::can_run(*context_, stratum, relations)) return nullptr;
  const auto steps = [this, &relations](const std::vector<step>& of, array_store& store) {
    return steps_of(of, relations, store);
  };
  return std::make_unique<gpu_loop>(*context_, *resource_, small_runs_, cut_, std::move(stratum), relations, steps);
}

}  // namespace gpulog::exec
