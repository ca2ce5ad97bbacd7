#include "exec/gpu/gpu_machine.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "backend/gpu/for_each.hpp"
#include "backend/gpu/launch.hpp"
#include "backend/gpu/occupancy.hpp"
#include "backend/gpu/primitives.hpp"
#include "exec/calibration.hpp"
#include "exec/gpu/row_counts.hpp"
#include "exec/gpu/row_loader.hpp"
#include "kernels/join/copied_columns.hpp"
#include "kernels/join/expand.cuh"

namespace gpulog::exec {

namespace gpu_kernels = kernels::gpu;
using backend::gpu::kernel_report;
using gpu_kernels::block_threads;
using gpu_kernels::expand_arguments;
using gpu_kernels::sink;
using kernels::expansion_kind;
using kernels::register_number;
using kernels::segment;
using storage::gpu::run_view;

gpu_machine::gpu_machine(backend::gpu::device_context& context, backend::memory_resource& resource,
                         device_record_tables& records, unsigned host_threads, const cut_offs& cut)
    : context_(&context),
      resource_(&resource),
      cut_(cut),
      records_(&records),
      host_(host_threads),
      small_runs_(context),
      parameters_(context, resource),
      sums_(resource),
      fault_(resource, 1),
      finished_blocks_(resource, 1),
      looked_at_(resource, 1),
      wraps_around_(resource, 1),
      lookup_counters_(resource, 1),
      batch_outcomes_(resource) {}

template <sink Sink>
std::uint64_t gpu_machine::launch(const running& run, expand_arguments& arguments, std::uint64_t first,
                                  std::uint64_t last) {
  if (run.stop != nullptr && run.stop->load(std::memory_order_relaxed)) throw kernels::interrupted{};
  arguments.first_candidate = first;
  arguments.last_candidate = last;
  arguments.fault = fault_.data();
  arguments.looked_at = looked_at_.data();
  arguments.finished_blocks = finished_blocks_.data();
  arguments.report_number = context_->next_report();
  arguments.report = context_->report(arguments.report_number);
  parameters_.flush();
  const std::size_t shared =
      gpu_kernels::register_file<block_threads>::words(arguments.slot_count, arguments.constant_count) * sizeof(word);
  using gpu_kernels::matching;
  const auto kernel =
      arguments.choices != nullptr   ? GPULOG_KERNEL((gpu_kernels::expand_kernel<Sink, matching::chosen>))
      : arguments.inner != nullptr   ? GPULOG_KERNEL((gpu_kernels::expand_kernel<Sink, matching::first_of_several>))
      : arguments.degrees != nullptr ? GPULOG_KERNEL((gpu_kernels::expand_kernel<Sink, matching::first>))
      : arguments.asks_kept_rows     ? GPULOG_KERNEL((gpu_kernels::expand_kernel<Sink, matching::all_asking_kept_rows>))
                                     : GPULOG_KERNEL((gpu_kernels::expand_kernel<Sink, matching::all>));
  // If the number of candidates is unknown, the last run's number is the best guess; a block processes several tiles.
  const std::uint64_t guess = std::max(arguments.rows, static_cast<std::uint64_t>(run.expected_candidates));
  const std::uint64_t candidates = last == gpu_kernels::all_candidates ? guess : last - first;
  const std::uint64_t block_rows =
      arguments.degrees != nullptr ? block_threads / backend::gpu::wave_size : block_threads;
  const auto blocks = static_cast<unsigned>(std::clamp<std::uint64_t>(
      (candidates + block_rows - 1) / block_rows, 1,
      context_->full_blocks(block_threads) * std::uint64_t{backend::gpu::launch_factors::joins}));
  backend::gpu::launch(kernel, {blocks, block_threads, shared, context_->stream()}, arguments);
  return arguments.report_number;
}

kernel_report gpu_machine::report_of(std::uint64_t number) {
  const kernel_report report = context_->wait_for_report(number);
  if (report.fault != 0) throw kernels::arithmetic_fault{};
  return report;
}

void gpu_machine::make_space(const kernels::pipeline& program, relation& target, std::uint64_t candidates) {
  if (target.room() >= candidates) return;
  const std::uint64_t wanted =
      std::min(candidates, std::max(calibration::least_piece, target.rows() / target.growth_share()));
  if (target.room() >= wanted) return;
  const bool reads_own_set = std::any_of(program.segments.begin(), program.segments.end(), [&](const segment& one) {
    return std::any_of(one.steps.begin(), one.steps.end(), [&](const kernels::step& step) {
      return step.kind == kernels::step_kind::exists_tuple && step.source == program.target;
    });
  });
  target.grow(wanted, reads_own_set);
}

void gpu_machine::load_rows(relation& target, const std::vector<const word*>& columns, std::uint64_t rows) {
  if (rows == 0) return;
  small_runs_.flush();
  row_loader<relation> loader(*context_, *resource_, target, columns, rows);
  running run{loader.program, loader.relations, 0, nullptr, {}};
  parameters_.start(&target);
  run_segment(run, 0, {loader.on_device, 0, rows});
  target.release_outgrown();
}

pipeline_counts gpu_machine::run(const kernels::pipeline& program, kernels::relation_list<relation>& relations,
                                 std::uint64_t rows, double expected_candidates, const std::atomic<bool>* stop) {
  small_runs_.flush();
  if (relations[program.target]->only_appends() && !reads_kept_rows(program, relations)) {
    if (const auto copied = kernels::copied_columns(program, relations)) {
      relations[program.target]->append(*copied, rows);
      count_rows(program, 0, rows);
      count_run(program);
      return {rows, rows, rows};
    }
  }
  running run{program, relations, expected_candidates, stop, {}};
  parameters_.start(&program);
  run_from_start(run, rows);
  say_what_wraps(program);
  count_run(program);
  relations[program.target]->release_outgrown();
  records_->release_outgrown();
  return run.counts;
}

bool gpu_machine::reads_kept_rows(const kernels::pipeline& program, const kernels::relation_list<relation>& relations) {
  return std::any_of(program.segments.begin(), program.segments.end(), [&relations](const segment& one) {
    const bool reads_columns = one.kind == expansion_kind::scan && !one.bindings.empty();
    return (reads_columns || one.kind == expansion_kind::match) && relations[one.source]->matrix() != nullptr;
  });
}

void gpu_machine::run_from_start(running& run, std::uint64_t rows) {
  const segment& first = run.program.segments.front();
  input_rows input;
  input.columns.assign(run.program.slot_count, nullptr);
  input.rows = 1;
  if (first.kind != expansion_kind::scan) return run_segment(run, 0, input);
  const relation& source = *run.relations[first.source];
  if (source.matrix() != nullptr && !first.bindings.empty()) return scan_kept_rows(run);
  input.first = kernels::rows_of(source, first.part).begin;
  for (const kernels::binding& bound : first.bindings) input.columns[bound.target] = source.column(bound.column);
  input.rows = rows;
  run_from_rows(run, input);
}

void gpu_machine::run_from_rows(running& run, const input_rows& input) {
  const kernels::pipeline& program = run.program;
  if (program.segments.front().steps.empty() && program.segments.size() > 1) {
    if (run.later == nullptr) count_rows(program, 0, input.rows);
    enter_segment(run, 1, input);  // the scan's columns serve as the table
  } else {
    run_segment(run, 0, input);
  }
}

std::vector<gpu_kernels::hash_step> gpu_machine::steps_of(const std::vector<kernels::step>& steps,
                                                          kernels::relation_list<relation>& relations,
                                                          array_store& store) {
  const auto put = [&store](const auto& values) { return store.put(values); };
  std::vector<gpu_kernels::hash_step> all;
  for (const kernels::step& one : steps) {
    auto& made = all.emplace_back(gpu_kernels::device_step_of<gpu_kernels::hash_step>(one, relations, put));
    if (one.kind == kernels::step_kind::exists_key && relations[one.source]->matrix() != nullptr)
      ask_by_key(made, one, *relations[one.source], store);
    if (one.kind != kernels::step_kind::unpack) continue;
    std::vector<register_number> fields;
    for (const kernels::binding& bound : one.bindings) fields.insert(fields.end(), {bound.column, bound.target});
    made.wide_arguments = store.put(fields);
    made.argument_count = static_cast<std::uint32_t>(fields.size());
    const device_record_tables::table& records = records_->of(*one.records);
    made.fields = records.fields();
    made.records = static_cast<word>(records.size());
    made.record_arity = records.arity();
  }
  return all;
}

bool gpu_machine::put_choices(running& run, const segment& here, const input_rows& input, expand_arguments& arguments) {
  std::vector<gpu_kernels::device_choice> choices;
  for (const kernels::search_choice& choice : here.choices) {
    const std::vector<run_view> views =
        run.relations[choice.source]->index(choice.index).views(true, true, choice.level);
    if (views.empty()) return false;
    gpu_kernels::device_choice& made = choices.emplace_back();
    made.runs = parameters_.put(views);
    made.run_count = static_cast<std::uint32_t>(views.size());
    arguments.run_count = std::max(arguments.run_count, made.run_count);
    const key_columns keys = put_keys(run, choice.keys, input);
    made.keys = keys.columns;
    made.constants = keys.constants;
    made.bound = {choice.bound.target, nullptr, choice.bound.column};
    const std::vector<gpu_kernels::hash_step> checks = steps_of(choice.checks, run.relations, parameters_);
    made.checks = parameters_.put(checks);
    made.check_count = static_cast<std::uint32_t>(checks.size());
  }
  arguments.choices = parameters_.put(choices);
  arguments.choice_count = static_cast<std::uint32_t>(choices.size());
  return true;
}

gpu_machine::key_columns gpu_machine::put_keys(const running& run, const std::vector<register_number>& keys,
                                               const input_rows& input) {
  std::vector<const word*> columns;
  std::vector<word> constants;
  for (register_number key : keys) {
    const bool constant = key >= run.program.slot_count;
    columns.push_back(constant ? nullptr : input.columns[key]);
    constants.push_back(constant ? run.program.constants[key - run.program.slot_count] : 0);
  }
  const word* const* const shown = parameters_.put(columns);
  return {shown, parameters_.put(constants)};
}

void gpu_machine::run_segment(running& run, std::size_t number, const input_rows& input) {
  if (input.rows == 0) return;
  memory_of(number);
  const segment& here = run.program.segments[number];
  const bool matches = here.kind == expansion_kind::match || (here.kind == expansion_kind::scan && number > 0);

  expand_arguments arguments;
  arguments.slot_count = run.program.slot_count;
  arguments.constants = parameters_.put(run.program.constants);
  arguments.constant_count = static_cast<std::uint32_t>(run.program.constants.size());
  const std::size_t last = matches ? last_of_first_match(run, number) : number;
  const bool has_inner = last != number;
  // A first match with inner atoms uses the first of several searches.
  const bool has_choices = !here.choices.empty() && !has_inner;
  std::vector<kernels::step> tests;
  if (has_inner && !here.choices.empty()) tests = here.choices.front().checks;
  tests.insert(tests.end(), here.steps.begin(), here.steps.end());
  const std::vector<gpu_kernels::hash_step> steps = steps_of(tests, run.relations, parameters_);
  arguments.steps = parameters_.put(steps);
  arguments.step_count = static_cast<std::uint32_t>(steps.size());
  arguments.asks_kept_rows = std::any_of(steps.begin(), steps.end(), [](const gpu_kernels::hash_step& step) {
    return step.kind == kernels::step_kind::exists_tuple && step.set.kept != nullptr;
  });

  std::vector<gpu_kernels::device_binding> carried;
  std::vector<gpu_kernels::device_binding> matched;
  for (register_number kept : here.carried) {
    if (input.columns[kept] != nullptr) carried.push_back({kept, input.columns[kept], 0});
  }
  if (here.kind == expansion_kind::fold) carried.push_back({here.owner, input.columns[here.owner], 0});
  if (here.kind == expansion_kind::unfold) carried.push_back({here.result, input.columns[here.result], 0});
  if (here.upper_value != kernels::no_register) {
    carried.push_back({here.upper_value, input.columns[here.upper_value], 0});
  }
  if (!matches) {
    for (const kernels::binding& bound : here.bindings)
      carried.push_back({bound.target, input.columns[bound.target], 0});
  }
  arguments.carried = parameters_.put(carried);
  arguments.carried_count = static_cast<std::uint32_t>(carried.size());
  arguments.first_row = input.first;
  arguments.rows = input.rows;
  if (!matches) {
    expand(run, number, arguments, run.later == nullptr ? input.rows : gpu_kernels::all_candidates);
    return;
  }

  std::vector<run_view> views;
  if (has_choices) {
    if (!put_choices(run, here, input, arguments)) return;
  } else if (matches_kept_rows(here, run.relations)) {
    if (here.folds_row_counts) return fold_row_counts(run, number, input, arguments);
    return match_kept_rows(run, number, input, arguments);
  } else if (here.kind == expansion_kind::match) {
    views = run.relations[here.source]
                ->index(here.index)
                .views(here.part != row_part::delta, here.part != row_part::old, here.level);
    for (const kernels::binding& bound : here.bindings) matched.push_back({bound.target, nullptr, bound.column});
  } else {
    for (const kernels::binding& bound : here.bindings) {
      matched.push_back({bound.target, run.relations[here.source]->column(bound.column), 0});
    }
    views.emplace_back();
  }
  if (!has_choices) {
    if (views.empty()) return;
    arguments.runs = parameters_.put(views);
    arguments.run_count = static_cast<std::uint32_t>(views.size());
  }
  arguments.matched = parameters_.put(matched);
  arguments.matched_count = static_cast<std::uint32_t>(matched.size());
  if (here.folds_row_counts) return fold_row_counts(run, number, input, arguments);
  if (has_inner) put_inner_atoms(run, number, last, arguments);
  const std::size_t parameters = parameters_.position();
  for (std::uint64_t done = 0; done < input.rows; done += calibration::match_rows) {
    parameters_.go_back(parameters);
    arguments.first_row = input.first + done;
    arguments.rows = std::min(calibration::match_rows, input.rows - done);
    find_matches(run, number, input, arguments);
    expand(run, last, arguments, gpu_kernels::all_candidates);
  }
}

void gpu_machine::expand(running& run, std::size_t number, expand_arguments& arguments, std::uint64_t candidates) {
  if (number + 1 < run.program.segments.size()) {
    table_candidates(run, number, arguments, candidates, outputs_before(run.program, number + 1));
    return;
  }
  relation& target = *run.relations[run.program.target];
  arguments.outputs = parameters_.put(run.program.head);
  arguments.output_count = static_cast<std::uint32_t>(run.program.head.size());
  arguments.target.arity = target.arity();
  if (target.arity() == 0) {
    arguments.counter = target.counter();
    const std::uint64_t number_of_report = launch<sink::nullary>(run, arguments, 0, candidates);
    if (run.later != nullptr) {
      run.later->report = number_of_report;
      return;
    }
    const kernel_report report = report_of(number_of_report);
    count_rows(run.program, number, report.candidates);
    run.counts.candidates += report.candidates;
    run.counts.bindings += report.candidates;
    run.counts.fresh += report.rows - target.tail();
    target.set_tail(report.rows);
  } else {
    insert_candidates(run, arguments, candidates);
  }
}

std::uint64_t gpu_machine::launch_insertion(const running& run, expand_arguments& arguments, std::uint64_t first,
                                            std::uint64_t last) {
  relation& target = *run.relations[run.program.target];
  arguments.target.set = target.set();
  arguments.counter = target.counter();
  arguments.room = target.limit();
  if (target.only_appends()) return launch<sink::rows>(run, arguments, first, last);
  if (target.keeps_best()) return launch<sink::best>(run, arguments, first, last);
  if (!target.is_packed()) return launch<sink::wide>(run, arguments, first, last);
  return launch<sink::packed>(run, arguments, first, last);
}

kernel_report gpu_machine::insert_piece(running& run, expand_arguments& arguments, std::uint64_t first,
                                        std::uint64_t last) {
  relation& target = *run.relations[run.program.target];
  const kernel_report report = report_of(launch_insertion(run, arguments, first, last));
  if (report.refused == 0) {
    count_rows(run.program, run.program.segments.size() - 1, report.candidates);
    run.counts.candidates += report.candidates;
    run.counts.bindings += report.candidates;
    const std::uint64_t fresh = report.rows - target.tail();
    run.counts.fresh += fresh;
    target.set_tail(report.rows);
    spend(run, report.candidates, report.candidates, fresh);
  }
  return report;
}

void gpu_machine::insert_candidates(running& run, expand_arguments& arguments, std::uint64_t candidates) {
  relation& target = *run.relations[run.program.target];
  if (run.later != nullptr) {
    run.later->report = launch_insertion(run, arguments, 0, gpu_kernels::all_candidates);
    run.later->arguments = arguments;
    return;
  }
  if (candidates == gpu_kernels::all_candidates) {
    // Most iterations fit, so the host does not wait for their size.
    const kernel_report report = insert_piece(run, arguments, 0, candidates);
    if (report.refused == 0) return;
    candidates = report.candidates;
  }
  if (target.only_appends()) return append_candidates(run, arguments, candidates);
  for (std::uint64_t done = 0; done < candidates;) {
    make_space(run.program, target, candidates - done);
    const std::uint64_t piece = std::min(candidates - done, target.room());
    insert_piece(run, arguments, done, done + piece);
    done += piece;
  }
}

void gpu_machine::append_candidates(running& run, expand_arguments& arguments, std::uint64_t candidates) {
  // The number of resulting rows is known only afterwards: a first piece estimates the share for the rest.
  relation& target = *run.relations[run.program.target];
  double share = 1;
  for (std::uint64_t done = 0; done < candidates;) {
    std::uint64_t piece = done == 0 ? std::min(candidates, calibration::least_piece) : candidates - done;
    if (run.program.budget != nullptr) {
      const double affordable = std::max(0.0, run.program.budget->affordable_candidates(share));
      if (affordable < static_cast<double>(piece))
        piece = std::min(piece, std::max(calibration::least_piece, static_cast<std::uint64_t>(affordable)));
    }
    const auto expected = static_cast<std::uint64_t>(static_cast<double>(piece) * share * calibration::margin_of_rows);
    try {
      target.grow(std::min(piece, expected + calibration::least_table_rows), false);
    } catch (const backend::memory_exceeded&) {
      // Fewer rows may be enough.
    }
    const std::uint64_t before = target.tail();
    kernel_report report = insert_piece(run, arguments, done, done + piece);
    if (report.refused != 0) {
      target.grow(report.rows - before, false);
      report = insert_piece(run, arguments, done, done + piece);
    }
    share = static_cast<double>(target.tail() - before) / static_cast<double>(piece);
    done += piece;
  }
}

void gpu_machine::table_candidates(running& run, std::size_t number, expand_arguments& arguments,
                                   std::uint64_t candidates, const std::vector<register_number>& outputs) {
  segment_memory& memory = *segments_[number];
  const std::uint64_t columns = std::max<std::uint64_t>(1, outputs.size());
  arguments.outputs = parameters_.put(outputs);
  arguments.output_count = static_cast<std::uint32_t>(outputs.size());
  const std::size_t parameters = parameters_.position();
  const auto fill = [&](std::uint64_t capacity, std::uint64_t first, std::uint64_t last) {
    ensure(memory.table, columns * capacity);
    parameters_.go_back(parameters);
    std::vector<word*> pointers;
    for (std::size_t c = 0; c < outputs.size(); ++c) pointers.push_back(memory.table.data() + c * capacity);
    arguments.output_columns = parameters_.put(pointers);
    arguments.counter = memory.table_counter.data();
    arguments.room = capacity;
    const kernel_report report = report_of(launch<sink::table>(run, arguments, first, last));
    if (report.refused == 0) {
      count_rows(run.program, number, report.candidates, report.rows);
      run.counts.bindings += report.candidates;
      spend(run, report.candidates, 0, 0);
      use_table(run, number, outputs, capacity, report.rows);
    }
    return report;
  };
  if (candidates == gpu_kernels::all_candidates) {
    const std::uint64_t capacity =
        std::clamp(memory.table.size() / columns, calibration::least_table_rows, calibration::table_rows);
    const kernel_report report = fill(capacity, 0, candidates);
    if (report.refused == 0) return;
    candidates = report.candidates;
  }
  const std::uint64_t capacity = std::min(candidates, calibration::table_rows);
  for (std::uint64_t done = 0; done < candidates; done += capacity) {
    fill(capacity, done, std::min(candidates, done + capacity));
  }
}

void gpu_machine::use_table(running& run, std::size_t number, const std::vector<register_number>& outputs,
                            std::uint64_t capacity, std::uint64_t rows) {
  if (rows == 0) return;
  const word* const table = segments_[number]->table.data();
  if (run.program.segments[number].ended_fold != 0) {
    add_to_fold(run, number, capacity, rows);
    return;
  }
  input_rows next;
  next.columns.assign(run.program.slot_count, nullptr);
  next.rows = rows;
  for (std::size_t c = 0; c < outputs.size(); ++c) next.columns[outputs[c]] = table + c * capacity;
  enter_segment(run, number + 1, next);
}

}  // namespace gpulog::exec
