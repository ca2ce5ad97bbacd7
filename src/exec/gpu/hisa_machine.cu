#include "exec/gpu/hisa_machine.hpp"

#include <algorithm>

#include "backend/gpu/for_each.hpp"
#include "backend/gpu/launch.hpp"
#include "backend/gpu/occupancy.hpp"
#include "exec/calibration.hpp"
#include "exec/gpu/row_loader.hpp"
#include "exec/strategies/sampled_run.hpp"
#include "kernels/hisa/hisa_join.cuh"
#include "kernels/hisa/hisa_nested.hpp"

namespace gpulog::exec {

namespace gpu_kernels = kernels::gpu;
using backend::gpu::phase;
using backend::gpu::phase_scope;
using gpu_kernels::block_threads;
using gpu_kernels::join_arguments;
using gpu_kernels::join_sink;
using gpu_kernels::join_source;
using gpu_kernels::join_step;
using kernels::expansion_kind;
using kernels::register_number;
using kernels::segment;
using kernels::step_kind;

namespace {

template <bool HasSteps, join_sink Sink>
void launch_join(const backend::gpu::device_context& context, const join_arguments& arguments) {
  const std::uint64_t candidates = arguments.last_candidate - arguments.first_candidate;
  const std::size_t shared =
      HasSteps
          ? (static_cast<std::size_t>(arguments.slot_count) * block_threads + arguments.constant_count) * sizeof(word)
          : 0;
  const std::uint64_t tiles = (candidates + gpu_kernels::join_tile - 1) / gpu_kernels::join_tile;
  const auto blocks = static_cast<unsigned>(std::min<std::uint64_t>(
      tiles, context.full_blocks(block_threads) * std::uint64_t{backend::gpu::launch_factors::joins}));
  backend::gpu::launch(GPULOG_KERNEL(gpu_kernels::join_kernel<HasSteps, Sink>),
                       {blocks, block_threads, shared, context.stream()}, arguments);
}

}  // namespace

hisa_machine::hisa_machine(const backend::gpu::device_context& context, backend::memory_resource& resource,
                           const options& chosen)
    : context_(&context),
      resource_(&resource),
      clock_(context),
      space_(context, resource, clock_),
      parameters_(context, resource),
      fault_(resource, 1),
      nested_(chosen.joins == join_mode::nested),
      places_(resource) {}

std::unique_ptr<hisa_machine::relation> hisa_machine::make_relation(std::uint32_t arity, const options& chosen) {
  relation::options made;
  made.buffers = chosen.buffers;
  if (chosen.cut.candidate_rows != 0) {
    made.candidate_rows = chosen.cut.candidate_rows;
  } else {
    // Candidates and sort buffers may take an eighth of the memory.
    const std::uint64_t bytes = resource_->limit() != 0 ? resource_->limit() : context_->memory_bytes();
    const std::uint64_t bytes_per_candidate = arity <= 2 ? 32 : 48 + sizeof(word) * arity;
    made.candidate_rows = std::clamp<std::uint64_t>(bytes / 8 / bytes_per_candidate, 1u << 12, 1u << 28);
  }
  return std::make_unique<relation>(space_, arity, made);
}

void hisa_machine::settle(relation& target) {
  target.settle();
  target.release_outgrown();
}

machine_phases hisa_machine::phases() {
  const auto seconds = clock_.seconds();
  const auto of = [&seconds](phase one) { return seconds[static_cast<std::size_t>(one)]; };
  return {of(phase::join), of(phase::populate_delta), of(phase::merge), of(phase::index), of(phase::allocation)};
}

void hisa_machine::load_rows(relation& target, const std::vector<const word*>& columns, std::uint64_t rows) {
  if (rows == 0) return;
  row_loader<relation> loader(*context_, *resource_, target, columns, rows);
  running run{loader.program, loader.relations, nullptr, {}};
  parameters_.start(nullptr);
  run_segment(run, 0, {loader.on_device, rows});
  target.release_outgrown();
}

pipeline_counts hisa_machine::run(const kernels::pipeline& program, kernels::relation_list<relation>& relations,
                                  std::uint64_t rows, double, const std::atomic<bool>* stop) {
  const phase_scope scope(clock_, phase::join);
  running run{program, relations, stop, {}};
  parameters_.start(&program);
  constexpr std::size_t segments_of_one_join = 2;
  if (nested_ && program.segments.size() > segments_of_one_join && gpu_kernels::is_nest(program)) {
    run_nested(run, 0, rows);
  } else {
    run_in_steps(run, 0, rows);
  }
  const auto faults = [](const segment& one) {
    return std::any_of(one.steps.begin(), one.steps.end(), [](const kernels::step& step) {
      return step.kind == step_kind::compute && kernels::may_fault(step.scalar);
    });
  };
  if (std::any_of(program.segments.begin(), program.segments.end(), faults) && *space_.read(fault_.data(), 1) != 0) {
    throw kernels::arithmetic_fault{};
  }
  relations[program.target]->release_outgrown();
  return run.counts;
}

void hisa_machine::run_in_steps(running& run, std::uint64_t first_row, std::uint64_t rows) {
  const kernels::pipeline& program = run.program;
  const segment& first = program.segments.front();
  input_rows input;
  input.columns.assign(program.slot_count, nullptr);
  input.rows = 1;
  if (first.kind != expansion_kind::scan) return run_segment(run, 0, input);
  const relation& source = *run.relations[first.source];
  const std::uint64_t begin = kernels::rows_of(source, first.part).begin + first_row;
  for (const kernels::binding& bound : first.bindings) {
    input.columns[bound.target] = source.column(bound.column) + begin;
  }
  input.rows = rows;
  // If the scan has no steps, the relation's columns serve as the table.
  run_segment(run, first.steps.empty() && program.segments.size() > 1 ? 1 : 0, input);
}

void hisa_machine::run_nested(running& run, std::uint64_t first_row, std::uint64_t rows) {
  check_stop(run.stop);
  relation& target = *run.relations[run.program.target];
  const auto put = [this](const auto& values) { return parameters_.put(values); };
  const auto steps_of = [&](const std::vector<kernels::step>& of) {
    std::vector<join_step> steps;
    for (const kernels::step& one : of) {
      steps.push_back(gpu_kernels::device_step_of<join_step>(one, run.relations, put));
    }
    return steps;
  };
  // Sets move when `new` is full and gets settled.
  const auto prepare_nest = [&] {
    parameters_.start(&run.program);
    gpu_kernels::hisa_nest nest;
    nest.body = gpu_kernels::nested_body_of<storage::gpu::hisa_run_view, storage::gpu::hisa_set_view>(
        run.program, run.relations, false, put, steps_of);
    nest.first_row = first_row;
    nest.rows = rows;
    nest.places = space_.scratch(places_, rows + 1);
    nest.fault = reinterpret_cast<std::uint32_t*>(fault_.data());
    parameters_.flush();
    return nest;
  };
  gpu_kernels::hisa_nest nest = prepare_nest();
  gpu_kernels::count_nested(*context_, nest);
  backend::gpu::fill_async(nest.places + rows, 0, sizeof(std::uint64_t), context_->stream());
  space_.exclusive_sum(nest.places, rows + 1);
  const std::uint64_t results = *space_.read(nest.places + rows, 1);
  if (results == 0) return;
  const std::uint64_t known = target.appended_rows();
  const std::uint64_t room = target.make_candidate_room(results);
  if (target.appended_rows() != known) {
    run_nested(run, first_row, rows);  // more tuples may give more results, so start over
  } else if (room >= results) {
    nest = prepare_nest();
    nest.target = target.candidates();
    gpu_kernels::fill_nested(*context_, nest, results);
    target.expect(results);
    run.counts.candidates += results;
  } else if (rows > 1) {
    run_nested(run, first_row, rows / 2);
    run_nested(run, first_row + rows / 2, rows - rows / 2);
  } else {
    run_in_steps(run, first_row, rows);  // the results of a single tuple do not fit
  }
}

void hisa_machine::run_segment(running& run, std::size_t number, const input_rows& input) {
  if (input.rows == 0) return;
  while (segments_.size() <= number) segments_.push_back(std::make_unique<segment_memory>(*resource_));
  const segment& here = run.program.segments[number];
  expansion outer;
  outer.segment = number;
  outer.input = &input;
  outer.rows = input.rows;
  const auto expand = [&](std::uint64_t candidates) {
    if (candidates == 0) return;
    if (number + 1 < run.program.segments.size()) {
      fill_tables(run, outer, candidates);
    } else {
      fill_new(run, outer, candidates);
    }
  };
  outer.matches = here.kind == expansion_kind::match || (here.kind == expansion_kind::scan && number > 0);
  if (!outer.matches) {
    expand(input.rows);
    return;
  }
  if (here.kind == expansion_kind::match) {
    outer.views = run.relations[here.source]
                      ->index(here.index)
                      .views(here.part != row_part::delta, here.part != row_part::old, here.level);
    if (outer.views.empty()) return;
  } else {
    outer.views.emplace_back();  // a Cartesian product reads the data array directly
  }
  for (; outer.first_row < input.rows; outer.first_row += calibration::match_rows) {
    outer.rows = std::min(calibration::match_rows, input.rows - outer.first_row);
    expand(probe(run, outer));
  }
}

std::uint64_t hisa_machine::probe(running& run, const expansion& outer) {
  const segment& here = run.program.segments[outer.segment];
  segment_memory& memory = *segments_[outer.segment];
  gpu_kernels::row_degree<storage::gpu::hisa_run_view> degree{};
  std::uint64_t* const offsets = space_.scratch(memory.offsets, outer.rows + 1);
  degree.ranges = space_.scratch(memory.ranges, outer.rows * outer.views.size());
  degree.rows = outer.rows;
  degree.first_row = outer.first_row;
  const std::size_t position = parameters_.position();
  if (here.kind == expansion_kind::match) {
    std::vector<const word*> columns;
    std::vector<word> constants;
    for (register_number key : here.keys) {
      const bool is_constant = key >= run.program.slot_count;
      columns.push_back(is_constant ? nullptr : outer.input->columns[key]);
      constants.push_back(is_constant ? run.program.constants[key - run.program.slot_count] : 0);
    }
    degree.keys = parameters_.put(columns);
    degree.constants = parameters_.put(constants);
    degree.runs = parameters_.put(outer.views);
    degree.run_count = static_cast<std::uint32_t>(outer.views.size());
  } else {
    const auto part = kernels::rows_of(*run.relations[here.source], here.part);
    degree.part = {static_cast<std::uint32_t>(part.begin), static_cast<std::uint32_t>(part.end - part.begin)};
  }
  parameters_.flush();
  backend::gpu::for_each(context_->stream(), outer.rows + 1, gpu_kernels::store_degree{degree, offsets});
  parameters_.go_back(position);
  space_.exclusive_sum(offsets, outer.rows + 1);
  return *space_.read(offsets + outer.rows, 1);
}

void hisa_machine::prepare(running& run, const expansion& outer, const std::vector<register_number>& outputs,
                           join_arguments& arguments) {
  const segment& here = run.program.segments[outer.segment];
  const segment_memory& memory = *segments_[outer.segment];
  arguments.rows = outer.rows;
  if (outer.matches) {
    arguments.offsets = memory.offsets.data();
    arguments.ranges = memory.ranges.data();
    arguments.runs = parameters_.put(outer.views);
  }
  std::vector<gpu_kernels::join_load> loads;
  const auto load_outer = [&](register_number number) {
    const word* const column = outer.input->columns[number];
    if (column != nullptr) loads.push_back({number, {join_source::origin::outer, 0, column + outer.first_row}});
  };
  for (register_number kept : here.carried) load_outer(kept);
  for (const kernels::binding& bound : here.bindings) {
    if (outer.matches) {
      const word* const column = run.relations[here.source]->column(bound.column);
      loads.push_back({bound.target, {join_source::origin::inner, 0, column}});
    } else {
      load_outer(bound.target);
    }
  }
  arguments.output_count = static_cast<std::uint32_t>(outputs.size());
  arguments.fault = reinterpret_cast<std::uint32_t*>(fault_.data());
  if (here.steps.empty()) {
    std::vector<join_source> sources;
    for (register_number output : outputs) {
      if (output >= run.program.slot_count) {
        sources.push_back(
            {join_source::origin::constant, run.program.constants[output - run.program.slot_count], nullptr});
        continue;
      }
      const auto found =
          std::find_if(loads.begin(), loads.end(), [output](const auto& load) { return load.target == output; });
      sources.push_back(found->source);
    }
    arguments.output_sources = parameters_.put(sources);
    return;
  }
  std::vector<join_step> steps;
  for (const kernels::step& one : here.steps) {
    steps.push_back(gpu_kernels::device_step_of<join_step>(
        one, run.relations, [this](const auto& values) { return parameters_.put(values); }));
  }
  arguments.steps = parameters_.put(steps);
  arguments.step_count = static_cast<std::uint32_t>(steps.size());
  arguments.loads = parameters_.put(loads);
  arguments.load_count = static_cast<std::uint32_t>(loads.size());
  arguments.constants = parameters_.put(run.program.constants);
  arguments.constant_count = static_cast<std::uint32_t>(run.program.constants.size());
  arguments.slot_count = run.program.slot_count;
  arguments.outputs = parameters_.put(outputs);
}

void hisa_machine::launch(const join_arguments& arguments, std::uint32_t arity, bool into_table) {
  parameters_.flush();
  const bool has_steps = arguments.step_count != 0;
  if (into_table || arity > 2) {
    has_steps ? launch_join<true, join_sink::columns>(*context_, arguments)
              : launch_join<false, join_sink::columns>(*context_, arguments);
  } else if (arity == 0) {
    has_steps ? launch_join<true, join_sink::nullary>(*context_, arguments)
              : launch_join<false, join_sink::nullary>(*context_, arguments);
  } else {
    has_steps ? launch_join<true, join_sink::packed>(*context_, arguments)
              : launch_join<false, join_sink::packed>(*context_, arguments);
  }
}

void hisa_machine::fill_new(running& run, const expansion& outer, std::uint64_t candidates) {
  run.counts.candidates += candidates;
  relation& target = *run.relations[run.program.target];
  const std::size_t position = parameters_.position();
  for (std::uint64_t done = 0; done < candidates;) {
    check_stop(run.stop);
    const std::uint64_t piece = std::min(candidates - done, target.make_candidate_room(candidates - done));
    // Sets move when `new` is full and gets settled.
    parameters_.go_back(position);
    join_arguments arguments;
    prepare(run, outer, run.program.head, arguments);
    arguments.target = target.candidates();
    arguments.first_candidate = done;
    arguments.last_candidate = done + piece;
    launch(arguments, target.arity(), false);
    target.expect(piece);
    done += piece;
  }
  parameters_.go_back(position);
}

void hisa_machine::fill_tables(running& run, const expansion& outer, std::uint64_t candidates) {
  // The registers that the next segment reads.
  const segment& next = run.program.segments[outer.segment + 1];
  std::vector<register_number> outputs = next.carried;
  for (register_number key : next.keys) {
    if (key < run.program.slot_count && std::find(outputs.begin(), outputs.end(), key) == outputs.end()) {
      outputs.push_back(key);
    }
  }
  segment_memory& memory = *segments_[outer.segment];
  const std::uint64_t capacity = std::min(candidates, calibration::table_rows);
  word* const table = space_.scratch(memory.table, std::max<std::uint64_t>(1, outputs.size()) * capacity);
  const bool all_pass = run.program.segments[outer.segment].steps.empty();
  const std::size_t position = parameters_.position();
  for (std::uint64_t done = 0; done < candidates; done += capacity) {
    check_stop(run.stop);
    parameters_.go_back(position);
    join_arguments arguments;
    prepare(run, outer, outputs, arguments);
    arguments.target = {nullptr, table, capacity, memory.table_rows.data(), nullptr};
    arguments.first_candidate = done;
    arguments.last_candidate = std::min(candidates, done + capacity);
    backend::gpu::fill_async(memory.table_rows.data(), 0, sizeof(std::uint64_t), context_->stream());
    launch(arguments, 0, true);
    input_rows input;
    input.columns.assign(run.program.slot_count, nullptr);
    input.rows = all_pass ? arguments.last_candidate - done : *space_.read(memory.table_rows.data(), 1);
    for (std::size_t c = 0; c < outputs.size(); ++c) input.columns[outputs[c]] = table + c * capacity;
    run_segment(run, outer.segment + 1, input);
  }
  parameters_.go_back(position);
}

}  // namespace gpulog::exec
