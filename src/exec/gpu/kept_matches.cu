// Joins with kept rows by their sources: the rows that are asked for become columns, some at a time.

#include <algorithm>
#include <utility>

#include "backend/gpu/for_each.hpp"
#include "backend/gpu/primitives_by_functor.hpp"
#include "exec/calibration.hpp"
#include "exec/gpu/gpu_machine.hpp"
#include "kernels/join/matches.cuh"
#include "storage/representation/kept_rows.cuh"

namespace gpulog::kernels::gpu {

using storage::gpu::kept_rows_view;
using storage::gpu::numbered_columns;

/// The source that an input row asks for.
struct asked_source {
  const kept_rows_view* kept = nullptr;
  const word* const* keys = nullptr;  ///< one column a key word; null: a constant
  const word* constants = nullptr;    ///< by key word
  std::uint32_t key_columns[numbered_columns::most] = {};
  std::uint32_t key_count = 0;
  std::uint64_t first_row = 0;
  __device__ std::uint32_t operator()(std::uint64_t row) const {
    word tuple[numbered_columns::most];
    for (std::uint32_t k = 0; k < key_count; ++k)
      tuple[key_columns[k]] = keys[k] == nullptr ? constants[k] : keys[k][first_row + row];
    return kept->sources.find(tuple);
  }
};

namespace {

struct store_kept_degree {
  asked_source asked;
  std::uint64_t rows;
  std::uint64_t* degrees;
  __device__ void operator()(std::uint64_t row) const {
    const std::uint32_t source = row == rows ? numbered_columns::none : asked(row);
    degrees[row] = source == numbered_columns::none ? 0 : asked.kept->size(source);
  }
};
struct mark_source {
  asked_source asked;
  std::uint32_t* sources;  ///< by row
  std::uint32_t* marks;    ///< by source
  __device__ void operator()(std::uint64_t row) const {
    const std::uint32_t source = sources[row] = asked(row);
    if (source != numbered_columns::none) atomicOr(marks + source, 1U);
  }
};
struct marked_size {
  const kept_rows_view* kept;
  const std::uint32_t* marks;
  std::uint64_t sources;
  __device__ std::uint64_t operator()(std::uint64_t source) const {
    return source == sources || marks[source] == 0 ? 0 : kept->size(static_cast<std::uint32_t>(source));
  }
};
/// Of sources [first, last); others come at another time.
struct range_of_source {
  const std::uint32_t* sources;  ///< by row
  const std::uint64_t* places;
  std::uint64_t first;
  std::uint64_t last;
  std::uint64_t first_row;
  std::uint64_t rows;
  storage::row_range* ranges;
  std::uint64_t* degrees;
  __device__ void operator()(std::uint64_t row) const {
    storage::row_range range = {};
    if (row < rows && sources[row] >= first && sources[row] < last) {
      const std::uint64_t place = places[sources[row]];
      range = {static_cast<std::uint32_t>(place - first_row),
               static_cast<std::uint32_t>(places[sources[row] + 1ULL] - place)};
    }
    degrees[row] = range.count;
    if (row < rows) ranges[row] = range;
  }
};

}  // namespace
}  // namespace gpulog::kernels::gpu

namespace gpulog::exec {

namespace gpu_kernels = kernels::gpu;
using backend::fresh_memory;
using gpu_kernels::expand_arguments;
using kernels::segment;

gpu_kernels::asked_source gpu_machine::asked_source_of(running& run, const segment& here, const input_rows& input,
                                                       const expand_arguments& arguments) {
  relation& source = *run.relations[here.source];
  gpu_kernels::asked_source made;
  made.kept = source.factorized().lookup();
  const key_columns keys = put_keys(run, here.keys, input);
  made.keys = keys.columns;
  made.constants = keys.constants;
  made.key_count = static_cast<std::uint32_t>(here.keys.size());
  std::copy_n(source.index(here.index).layout().order.begin(), made.key_count, made.key_columns);
  made.first_row = arguments.first_row;
  return made;
}

void gpu_machine::find_kept_degrees(running& run, std::size_t number, const input_rows& input,
                                    expand_arguments& arguments) {
  segment_memory& memory = make_room_for_degrees(run, number, arguments);
  const gpu_kernels::asked_source asked = asked_source_of(run, run.program.segments[number], input, arguments);
  parameters_.flush();
  backend::gpu::for_each(context_->stream(), arguments.rows + 1,
                         gpu_kernels::store_kept_degree{asked, arguments.rows, memory.offsets.data()});
}

void gpu_machine::match_kept_rows(running& run, std::size_t number, const input_rows& input,
                                  expand_arguments& arguments) {
  const segment& here = run.program.segments[number];
  relation& source = *run.relations[here.source];
  storage::gpu::device_factorized& kept = source.factorized();
  const std::vector<std::uint32_t>& stored = source.index(here.index).layout().stored;
  const std::uint64_t sources = kept.sources();
  const std::size_t parameters = parameters_.position();
  for (std::uint64_t done = 0; done < input.rows; done += calibration::match_rows) {
    parameters_.go_back(parameters);
    arguments.first_row = input.first + done;
    arguments.rows = std::min(calibration::match_rows, input.rows - done);
    backend::array<std::uint32_t> asked(*resource_, arguments.rows, fresh_memory::anything);
    backend::array<std::uint64_t> places(*resource_, sources + 1, fresh_memory::anything);
    {
      backend::array<std::uint32_t> marks(*resource_, sources);
      const gpu_kernels::asked_source own = asked_source_of(run, here, input, arguments);
      parameters_.flush();
      backend::gpu::for_each(context_->stream(), arguments.rows,
                             gpu_kernels::mark_source{own, asked.data(), marks.data()});
      backend::gpu::with_scratch(*resource_, [&](void* scratch, std::size_t& bytes) {
        backend::gpu::exclusive_sum_of(scratch, bytes, gpu_kernels::marked_size{own.kept, marks.data(), sources},
                                       places.data(), places.size(), context_->stream());
      });
    }
    std::vector<std::uint64_t> known(sources + 1);
    context_->read(places.data(), known.data(), places.bytes());
    for (std::uint64_t first = 0, last = 0; first < sources; first = last) {
      if (run.stop != nullptr && run.stop->load(std::memory_order_relaxed)) throw kernels::interrupted{};
      const auto end = std::upper_bound(known.begin() + static_cast<std::ptrdiff_t>(first) + 1, known.end(),
                                        known[first] + calibration::asked_rows);
      last = std::max(first + 1, static_cast<std::uint64_t>(end - known.begin()) - 1);
      if (known[last] == known[first]) continue;
      const std::vector<backend::array<word>> columns =
          kept.columns_of({places.data(), first, last, known[first], known[last] - known[first]});
      parameters_.go_back(parameters);
      std::vector<gpu_kernels::device_binding> matched;
      for (const kernels::binding& bound : here.bindings)
        matched.push_back({bound.target, columns[stored[bound.column]].data(), 0});
      arguments.matched = parameters_.put(matched);
      arguments.matched_count = static_cast<std::uint32_t>(matched.size());
      arguments.runs = parameters_.put(std::vector<storage::gpu::run_view>(1));
      arguments.run_count = 1;
      segment_memory& memory = make_room_for_degrees(run, number, arguments);
      backend::gpu::for_each(context_->stream(), arguments.rows + 1,
                             gpu_kernels::range_of_source{asked.data(), places.data(), first, last, known[first],
                                                          arguments.rows, memory.ranges.data(), memory.offsets.data()});
      if (here.first_match_from == number) {  // one is enough
        arguments.degrees = std::exchange(arguments.offsets, nullptr);
      } else {
        sum_degrees(run, number, arguments);
      }
      expand(run, number, arguments, gpu_kernels::all_candidates);
    }
  }
}

}  // namespace gpulog::exec
