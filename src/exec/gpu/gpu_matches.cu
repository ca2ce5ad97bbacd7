#include <algorithm>
#include <stdexcept>
#include <utility>

#include "backend/gpu/for_each.hpp"
#include "backend/gpu/primitives.hpp"
#include "backend/gpu/running_sums.cuh"
#include "exec/calibration.hpp"
#include "exec/gpu/gpu_machine.hpp"
#include "kernels/join/fewest.cuh"
#include "kernels/join/matches.cuh"
#include "kernels/join/nested_program.hpp"

/// The matches of a segment: degrees, and first matches.
namespace gpulog::exec {

namespace gpu_kernels = kernels::gpu;
using gpu_kernels::expand_arguments;
using kernels::expansion_kind;
using kernels::segment;
using storage::gpu::run_view;

gpu_kernels::row_degree<run_view> gpu_machine::degree_of(running& run, const segment& here, const input_rows& input,
                                                         const expand_arguments& arguments, segment_memory& memory) {
  gpu_kernels::row_degree<run_view> degree{};
  degree.runs = arguments.runs;
  degree.run_count = arguments.run_count;
  degree.rows = arguments.rows;
  degree.first_row = arguments.first_row;
  degree.ranges = memory.ranges.data();
  if (here.kind == expansion_kind::match) {
    const key_columns keys = put_keys(run, here.keys, input);
    degree.keys = keys.columns;
    degree.constants = keys.constants;
  } else {
    const auto part = kernels::rows_of(*run.relations[here.source], here.part);
    if (part.end > UINT32_MAX) throw std::length_error("a Cartesian product with more than 2^32 rows");
    degree.part = {static_cast<std::uint32_t>(part.begin), static_cast<std::uint32_t>(part.end - part.begin)};
  }
  return degree;
}

segment_memory& gpu_machine::make_room_for_degrees(running& run, std::size_t number, expand_arguments& arguments) {
  segment_memory& memory = run.later != nullptr ? run.later->memory : *segments_[number];
  ensure(memory.offsets, arguments.rows + 1);
  ensure(memory.ranges, arguments.rows * arguments.run_count);
  arguments.offsets = memory.offsets.data();
  arguments.ranges = memory.ranges.data();
  return memory;
}

void gpu_machine::find_degrees(running& run, std::size_t number, const input_rows& input, expand_arguments& arguments) {
  if (matches_kept_rows(run.program.segments[number], run.relations)) {
    return find_kept_degrees(run, number, input, arguments);
  }
  segment_memory& memory = make_room_for_degrees(run, number, arguments);
  const gpu_kernels::row_degree<run_view> degree =
      degree_of(run, run.program.segments[number], input, arguments, memory);
  parameters_.flush();
  backend::gpu::for_each(context_->stream(), arguments.rows + 1,
                         gpu_kernels::store_degree{degree, memory.offsets.data()});
}

void gpu_machine::find_matches(running& run, std::size_t number, const input_rows& input, expand_arguments& arguments) {
  const segment& here = run.program.segments[number];
  if (arguments.choices == nullptr && (arguments.inner != nullptr || here.first_match_from == number)) {
    find_degrees(run, number, input, arguments);
    arguments.degrees = std::exchange(arguments.offsets, nullptr);  // one match is enough
    return;
  }
  segment_memory& memory = make_room_for_degrees(run, number, arguments);
  const auto store = [&](const auto& degree) {
    parameters_.flush();
    if (arguments.rows < calibration::rows_of_long_sums) {
      backend::gpu::store_sums(context_->stream(), sums_, arguments.rows + 1, degree, memory.offsets.data());
    } else {
      backend::gpu::for_each(context_->stream(), arguments.rows + 1,
                             gpu_kernels::store_degree{degree, memory.offsets.data()});
      sum_degrees(run, number, arguments);
    }
  };
  // A scan's own threads would each look up many rows in sequence.
  if (arguments.choices != nullptr) {
    ensure(memory.chosen, arguments.rows);
    arguments.chosen = memory.chosen.data();
    store(gpu_kernels::choose_fewest{arguments.choices, arguments.choice_count, arguments.rows, arguments.first_row,
                                     memory.chosen.data(), memory.ranges.data()});
  } else {
    store(degree_of(run, here, input, arguments, memory));
  }
}

void gpu_machine::sum_degrees(running& run, std::size_t number, expand_arguments& arguments) {
  segment_memory& memory = run.later != nullptr ? run.later->memory : *segments_[number];
  std::size_t bytes = 0;
  const std::uint64_t items = arguments.rows + 1;
  std::uint64_t* const offsets = memory.offsets.data();
  backend::gpu::exclusive_sum(nullptr, bytes, offsets, offsets, items, context_->stream());
  ensure(memory.scratch, bytes + 1);
  backend::gpu::exclusive_sum(memory.scratch.data(), bytes, offsets, offsets, items, context_->stream());
}

std::size_t gpu_machine::last_of_first_match(const running& run, std::size_t number) {
  const std::vector<segment>& segments = run.program.segments;
  std::size_t last = number;
  if (matches_kept_rows(segments[number], run.relations)) return number;
  for (std::size_t behind = number + 1; behind < segments.size(); ++behind) {
    const segment& inner = segments[behind];
    if (segments[behind - 1].ended_fold != 0 || behind - number > gpu_kernels::most_levels) break;
    if (inner.kind != expansion_kind::match && inner.kind != expansion_kind::scan) break;
    if (matches_kept_rows(inner, run.relations)) break;
    // Loops count positions in 32 bits, one wave at a time.
    if (inner.kind == expansion_kind::scan && run.relations[inner.source]->rows() > UINT32_MAX / 2) break;
    if (inner.first_match_from == number) last = behind;
  }
  return last;
}

void gpu_machine::put_inner_atoms(running& run, std::size_t number, std::size_t last, expand_arguments& arguments) {
  const auto put = [this](const auto& values) { return parameters_.put(values); };
  const auto steps = [&](const std::vector<kernels::step>& of) { return steps_of(of, run.relations, parameters_); };
  const std::vector<gpu_kernels::nested_level<run_view, storage::gpu::set_view>> levels =
      gpu_kernels::nested_levels_of<run_view, storage::gpu::set_view>(run.program, number + 1, last + 1, run.relations,
                                                                      true, put, steps);
  arguments.inner = parameters_.put(levels);
  arguments.inner_count = static_cast<std::uint32_t>(levels.size());
  memory_of(last);
}

}  // namespace gpulog::exec
