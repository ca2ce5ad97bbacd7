#include "exec/cuda/cuda_machine.hpp"

#include <cub/device/device_scan.cuh>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "backend/cuda/error.hpp"
#include "kernels/cuda/expand.cuh"

namespace gpulog::exec {

namespace cuda_kernels = kernels::cuda;
using cuda_kernels::block_threads;
using cuda_kernels::expand_arguments;
using cuda_kernels::sink;
using kernels::expansion_kind;
using kernels::register_number;
using kernels::segment;
using storage::cuda::run_view;

namespace {

/// Rows of a table between segments, and candidates wider than a slot.
constexpr std::uint64_t table_rows = 16u << 20;
/// Rows whose matches are found at a time.
constexpr std::uint64_t match_rows = 64u << 20;
constexpr std::uint64_t parameter_bytes = 4u << 20;
/// A launch of fewer candidates than this isn't worth it while memory can still grow.
constexpr std::uint64_t least_piece = 4u << 20;

template <class T>
void ensure(backend::array<T>& buffer, std::uint64_t size) {
  if (buffer.capacity() < size) {
    buffer.release();
    buffer.set_capacity(size + size / 2);
  }
  buffer.resize(size);
}

std::size_t shared_bytes(const expand_arguments& arguments) {
  return (static_cast<std::size_t>(arguments.slot_count) * block_threads + arguments.constant_count) * sizeof(word);
}

template <sink Sink>
void launch(const backend::cuda::device_context& context, const expand_arguments& arguments) {
  const std::uint64_t candidates = arguments.last_candidate - arguments.first_candidate;
  if (candidates == 0) return;
  const std::size_t shared = shared_bytes(arguments);
  if (shared > 40u << 10) {
    GPULOG_CUDA_TRY(cudaFuncSetAttribute(cuda_kernels::expand_kernel<Sink>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         static_cast<int>(shared)));
  }
  const std::uint64_t tiles = (candidates + cuda_kernels::tile_candidates - 1) / cuda_kernels::tile_candidates;
  const auto blocks = static_cast<unsigned>(std::min<std::uint64_t>(tiles, context.multiprocessors() * 32ULL));
  cuda_kernels::expand_kernel<Sink><<<blocks, block_threads, shared, context.stream()>>>(arguments);
  GPULOG_CUDA_TRY(cudaGetLastError());
}

}  // namespace

cuda_machine::cuda_machine(const backend::cuda::device_context& context, backend::memory_resource& resource)
    : context_(&context), resource_(&resource), parameters_(resource, parameter_bytes), fault_(resource, 1) {
  GPULOG_CUDA_TRY(cudaMallocHost(reinterpret_cast<void**>(&staged_parameters_), parameter_bytes));
}

cuda_machine::~cuda_machine() {
  if (staged_parameters_ != nullptr) cudaFreeHost(staged_parameters_);
}

std::unique_ptr<cuda_machine::relation> cuda_machine::make_relation(std::uint32_t arity, const options&) {
  return std::make_unique<relation>(*context_, *resource_, arity);
}

template <class T>
const T* cuda_machine::upload(const std::vector<T>& values) {
  if (values.empty()) return nullptr;
  const std::uint64_t bytes = values.size() * sizeof(T);
  const std::uint64_t begin = (parameters_used_ + 15) / 16 * 16;
  if (begin + bytes > parameters_.size()) throw std::length_error("a rule has too many operators for a kernel");
  std::memcpy(staged_parameters_ + begin, values.data(), bytes);
  parameters_flushed_ = std::min(parameters_flushed_, begin);
  parameters_used_ = begin + bytes;
  return reinterpret_cast<const T*>(parameters_.data() + begin);
}

void cuda_machine::flush_parameters() {
  if (parameters_used_ <= parameters_flushed_) return;
  GPULOG_CUDA_TRY(cudaMemcpyAsync(parameters_.data() + parameters_flushed_, staged_parameters_ + parameters_flushed_,
                                  parameters_used_ - parameters_flushed_, cudaMemcpyHostToDevice, context_->stream()));
  parameters_flushed_ = parameters_used_;
}

void cuda_machine::start_parameters() {
  // What earlier runs set aside may not have been copied yet.
  if (parameters_used_ < parameter_bytes / 2) return;
  context_->synchronize();
  parameters_used_ = parameters_flushed_ = 0;
}

void cuda_machine::make_space(running& run, std::uint64_t candidates) {
  relation& target = *run.relations[run.program.target];
  if (target.room() >= candidates) return;
  target.read_tail();
  const std::uint64_t wanted = std::min(candidates, std::max(least_piece, target.rows() / 2));
  if (target.room() >= wanted) return;
  const bool reads_own_set =
      std::any_of(run.program.segments.begin(), run.program.segments.end(), [&](const segment& one) {
        return std::any_of(one.steps.begin(), one.steps.end(), [&](const kernels::step& step) {
          return step.kind == kernels::step_kind::exists_tuple && step.source == run.program.target;
        });
      });
  target.grow(wanted, reads_own_set);
}

void cuda_machine::load_rows(relation& target, const std::vector<const word*>& columns, std::uint64_t rows) {
  if (rows == 0) return;
  kernels::pipeline program;
  segment& only = program.segments.emplace_back();
  only.kind = expansion_kind::unit;
  program.slot_count = target.arity();
  backend::array<word> staging(*resource_, rows * std::max<std::uint32_t>(1, target.arity()));
  input_rows input;
  input.rows = rows;
  for (std::uint32_t c = 0; c < target.arity(); ++c) {
    word* const staged = staging.data() + c * rows;
    GPULOG_CUDA_TRY(
        cudaMemcpyAsync(staged, columns[c], rows * sizeof(word), cudaMemcpyHostToDevice, context_->stream()));
    input.columns.push_back(staged);
    program.head.push_back(c);
    only.carried.push_back(c);
  }
  // A list of one, so that loading is a pipeline like any other.
  kernels::relation_list<relation> list;
  list.emplace_back(&target);
  running run{program, list, nullptr, {}};
  start_parameters();
  try {
    run_segment(run, 0, input);
  } catch (...) {
    list.front().release();
    throw;
  }
  list.front().release();
  target.release_outgrown();
}

pipeline_counts cuda_machine::run(const kernels::pipeline& program, kernels::relation_list<relation>& relations,
                                  std::uint64_t rows, double, const std::atomic<bool>* stop) {
  running run{program, relations, stop, {}};
  start_parameters();
  const segment& first = program.segments.front();
  input_rows input;
  input.columns.assign(program.slot_count, nullptr);
  input.rows = 1;
  if (first.kind != expansion_kind::scan) {
    run_segment(run, 0, input);
  } else {
    const relation& source = *relations[first.source];
    const std::uint64_t begin = kernels::rows_of(source, first.part).begin;
    for (const kernels::binding& bound : first.bindings)
      input.columns[bound.target] = source.column(bound.column) + begin;
    input.rows = rows;
    if (first.steps.empty() && program.segments.size() > 1) {
      run_segment(run, 1, input);  // the relation's own columns are the table
    } else {
      run_segment(run, 0, input);
    }
  }
  const auto faults = [](const segment& one) {
    return std::any_of(one.steps.begin(), one.steps.end(), [](const kernels::step& step) {
      return step.kind == kernels::step_kind::compute && kernels::may_fault(step.scalar);
    });
  };
  if (std::any_of(program.segments.begin(), program.segments.end(), faults)) {
    std::uint32_t fault = 0;
    GPULOG_CUDA_TRY(cudaMemcpyAsync(&fault, fault_.data(), sizeof fault, cudaMemcpyDeviceToHost, context_->stream()));
    context_->synchronize();
    if (fault != 0) throw kernels::arithmetic_fault{};
  }
  relations[program.target]->release_outgrown();
  return run.counts;
}

void cuda_machine::prepare_steps(running& run, std::size_t number, expand_arguments& arguments) {
  std::vector<cuda_kernels::device_step> steps;
  for (const kernels::step& one : run.program.segments[number].steps) {
    cuda_kernels::device_step& made = steps.emplace_back();
    made.kind = one.kind;
    made.scalar = one.scalar;
    made.comparison = one.comparison;
    made.negated = one.negated;
    made.result = one.result;
    made.argument_count = static_cast<std::uint32_t>(one.arguments.size());
    for (std::size_t i = 0; i < std::min<std::size_t>(one.arguments.size(), 8); ++i)
      made.arguments[i] = one.arguments[i];
    made.wide_arguments = upload(one.arguments);
    if (one.kind == kernels::step_kind::exists_any) {
      const auto rows = kernels::rows_of(*run.relations[one.source], one.part);
      made.holds = rows.begin != rows.end;
    } else if (one.kind == kernels::step_kind::exists_tuple) {
      made.set = run.relations[one.source]->set();
      if (made.set.capacity == 0) {  // never had a tuple
        made.kind = kernels::step_kind::exists_any;
        made.holds = false;
      }
    } else if (one.kind == kernels::step_kind::exists_key) {
      const auto views = run.relations[one.source]->index(one.index).views(
          one.part != kernels::row_part::delta, one.part != kernels::row_part::old, one.level);
      made.runs = upload(views);
      made.run_count = static_cast<std::uint32_t>(views.size());
    }
  }
  arguments.steps = upload(steps);
  arguments.step_count = static_cast<std::uint32_t>(steps.size());
}

void cuda_machine::run_segment(running& run, std::size_t number, const input_rows& input) {
  if (input.rows == 0) return;
  while (segments_.size() <= number) segments_.push_back(std::make_unique<segment_memory>(*resource_));
  const segment& here = run.program.segments[number];
  const bool matches = here.kind == expansion_kind::match || (here.kind == expansion_kind::scan && number > 0);

  expand_arguments arguments;
  arguments.slot_count = run.program.slot_count;
  arguments.constants = upload(run.program.constants);
  arguments.constant_count = static_cast<std::uint32_t>(run.program.constants.size());
  arguments.fault = fault_.data();
  prepare_steps(run, number, arguments);

  std::vector<cuda_kernels::device_binding> carried;
  std::vector<cuda_kernels::device_binding> matched;
  for (register_number kept : here.carried) {
    if (input.columns[kept] != nullptr) carried.push_back({kept, input.columns[kept], 0});
  }
  if (!matches) {
    for (const kernels::binding& bound : here.bindings)
      carried.push_back({bound.target, input.columns[bound.target], 0});
    arguments.carried = upload(carried);
    arguments.carried_count = static_cast<std::uint32_t>(carried.size());
    arguments.rows = input.rows;
    expand(run, number, arguments, input.rows);
    return;
  }

  std::vector<run_view> views;
  if (here.kind == expansion_kind::match) {
    views = run.relations[here.source]
                ->index(here.index)
                .views(here.part != kernels::row_part::delta, here.part != kernels::row_part::old, here.level);
    for (const kernels::binding& bound : here.bindings) matched.push_back({bound.target, nullptr, bound.column});
  } else {
    for (const kernels::binding& bound : here.bindings) {
      matched.push_back({bound.target, run.relations[here.source]->column(bound.column), 0});
    }
    views.emplace_back();
  }
  if (views.empty()) return;
  arguments.runs = upload(views);
  arguments.run_count = static_cast<std::uint32_t>(views.size());
  arguments.matched = upload(matched);
  arguments.matched_count = static_cast<std::uint32_t>(matched.size());
  const std::uint64_t parameters = parameters_used_;
  for (std::uint64_t first = 0; first < input.rows; first += match_rows) {
    const std::uint64_t rows = std::min(match_rows, input.rows - first);
    if (first != 0) context_->synchronize();  // its parameters take the place of the last ones
    parameters_used_ = parameters;
    auto shifted = carried;
    for (auto& one : shifted) one.column += first;
    arguments.carried = upload(shifted);
    arguments.carried_count = static_cast<std::uint32_t>(shifted.size());
    const std::uint64_t candidates = find_matches(run, number, input, first, rows, views, arguments);
    expand(run, number, arguments, candidates);
  }
}

std::uint64_t cuda_machine::find_matches(running& run, std::size_t number, const input_rows& input,
                                         std::uint64_t first_row, std::uint64_t rows,
                                         const std::vector<run_view>& views, expand_arguments& arguments) {
  const segment& here = run.program.segments[number];
  segment_memory& memory = *segments_[number];
  ensure(memory.offsets, rows + 1);
  ensure(memory.ranges, rows * views.size());
  const auto blocks =
      static_cast<unsigned>(std::min<std::uint64_t>((rows + 255) / 256, context_->multiprocessors() * 32ULL));
  if (here.kind == expansion_kind::match) {
    cuda_kernels::degree_arguments degrees{};
    std::vector<const word*> keys;
    std::vector<word> constants;
    for (register_number key : here.keys) {
      const bool constant = key >= run.program.slot_count;
      keys.push_back(constant ? nullptr : input.columns[key] + first_row);
      constants.push_back(constant ? run.program.constants[key - run.program.slot_count] : 0);
    }
    degrees.runs = arguments.runs;
    degrees.run_count = arguments.run_count;
    degrees.rows = rows;
    degrees.keys = upload(keys);
    degrees.constants = upload(constants);
    degrees.ranges = memory.ranges.data();
    degrees.degrees = memory.offsets.data();
    flush_parameters();
    cuda_kernels::degree_kernel<<<blocks, 256, 0, context_->stream()>>>(degrees);
  } else {
    const auto part = kernels::rows_of(*run.relations[here.source], here.part);
    if (part.end > UINT32_MAX) throw std::length_error("a Cartesian product with more than 2^32 rows");
    const storage::row_range range{static_cast<std::uint32_t>(part.begin),
                                   static_cast<std::uint32_t>(part.end - part.begin)};
    cuda_kernels::whole_part_kernel<<<blocks, 256, 0, context_->stream()>>>(memory.ranges.data(), memory.offsets.data(),
                                                                            rows, range);
  }
  GPULOG_CUDA_TRY(cudaGetLastError());
  GPULOG_CUDA_TRY(cudaMemsetAsync(memory.offsets.data() + rows, 0, sizeof(std::uint64_t), context_->stream()));
  std::size_t bytes = 0;
  const auto items = static_cast<std::int64_t>(rows + 1);
  GPULOG_CUDA_TRY(cub::DeviceScan::ExclusiveSum(nullptr, bytes, memory.offsets.data(), memory.offsets.data(), items,
                                                context_->stream()));
  ensure(memory.scratch, bytes + 1);
  GPULOG_CUDA_TRY(cub::DeviceScan::ExclusiveSum(memory.scratch.data(), bytes, memory.offsets.data(),
                                                memory.offsets.data(), items, context_->stream()));
  arguments.offsets = memory.offsets.data();
  arguments.ranges = memory.ranges.data();
  arguments.rows = rows;
  return context_->read_counter(memory.offsets.data() + rows);
}

void cuda_machine::expand(running& run, std::size_t number, expand_arguments& arguments, std::uint64_t candidates) {
  if (candidates == 0) return;
  if (number + 1 < run.program.segments.size()) {
    // What the next segment reads of this one.
    const segment& next = run.program.segments[number + 1];
    std::vector<register_number> outputs = next.carried;
    for (register_number key : next.keys) {
      if (key < run.program.slot_count && std::find(outputs.begin(), outputs.end(), key) == outputs.end())
        outputs.push_back(key);
    }
    table_pieces(run, number, arguments, candidates, outputs);
    return;
  }
  run.counts.candidates += candidates;
  relation& target = *run.relations[run.program.target];
  arguments.outputs = upload(run.program.head);
  arguments.output_count = static_cast<std::uint32_t>(run.program.head.size());
  arguments.target.arity = target.arity();
  if (target.arity() == 0) {
    arguments.target.tail = target.tail_counter();
    arguments.first_candidate = 0;
    arguments.last_candidate = candidates;
    flush_parameters();
    launch<sink::nullary>(*context_, arguments);
  } else if (target.is_packed()) {
    insert_pieces(run, arguments, candidates);
  } else {
    table_pieces(run, number, arguments, candidates, run.program.head);
  }
}

void cuda_machine::insert_pieces(running& run, expand_arguments& arguments, std::uint64_t candidates) {
  relation& target = *run.relations[run.program.target];
  for (std::uint64_t done = 0; done < candidates;) {
    if (run.stop != nullptr && run.stop->load(std::memory_order_relaxed)) throw kernels::interrupted{};
    make_space(run, candidates - done);
    const std::uint64_t piece = std::min(candidates - done, target.room());
    arguments.target.set = target.set();
    arguments.target.tail = target.tail_counter();
    arguments.first_candidate = done;
    arguments.last_candidate = done + piece;
    flush_parameters();
    launch<sink::packed>(*context_, arguments);
    target.expect(piece);
    done += piece;
  }
}

void cuda_machine::table_pieces(running& run, std::size_t number, expand_arguments& arguments, std::uint64_t candidates,
                                const std::vector<register_number>& outputs) {
  segment_memory& memory = *segments_[number];
  const std::uint64_t capacity = std::min(candidates, table_rows);
  ensure(memory.table, std::max<std::uint64_t>(1, outputs.size()) * capacity);
  std::vector<word*> pointers;
  for (std::size_t c = 0; c < outputs.size(); ++c) pointers.push_back(memory.table.data() + c * capacity);
  arguments.outputs = upload(outputs);
  arguments.output_count = static_cast<std::uint32_t>(outputs.size());
  ensure(memory.table_pointers, pointers.size() + 1);
  if (!pointers.empty()) {
    GPULOG_CUDA_TRY(cudaMemcpyAsync(memory.table_pointers.data(), pointers.data(), pointers.size() * sizeof(word*),
                                    cudaMemcpyHostToDevice, context_->stream()));
  }
  arguments.output_columns = memory.table_pointers.data();
  arguments.output_rows = memory.table_rows.data();
  const bool last = number + 1 == run.program.segments.size();
  const std::uint64_t parameters = parameters_used_;
  for (std::uint64_t done = 0; done < candidates; done += capacity) {
    if (run.stop != nullptr && run.stop->load(std::memory_order_relaxed)) throw kernels::interrupted{};
    parameters_used_ = parameters;
    GPULOG_CUDA_TRY(cudaMemsetAsync(memory.table_rows.data(), 0, sizeof(std::uint64_t), context_->stream()));
    arguments.first_candidate = done;
    arguments.last_candidate = std::min(candidates, done + capacity);
    flush_parameters();
    launch<sink::table>(*context_, arguments);
    const std::uint64_t rows = context_->read_counter(memory.table_rows.data());
    if (rows == 0) continue;
    if (last) {
      relation& target = *run.relations[run.program.target];
      make_space(run, rows);
      if (target.room() < rows) target.grow(rows, true);
      target.insert_rows(memory.table_pointers.data(), rows);
      target.expect(rows);
    } else {
      input_rows next;
      next.columns.assign(run.program.slot_count, nullptr);
      next.rows = rows;
      for (std::size_t c = 0; c < outputs.size(); ++c) next.columns[outputs[c]] = pointers[c];
      run_segment(run, number + 1, next);
    }
  }
}

}  // namespace gpulog::exec
