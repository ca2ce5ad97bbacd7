#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "backend/gpu/trace_range.hpp"
#include "exec/executor.hpp"
#include "exec/fixpoint/machine.hpp"
#include "exec/fixpoint/phase_figures.hpp"
#include "exec/gpu/device_rows.hpp"
#include "exec/gpu/parameter_store.hpp"
#include "storage/hisa/hisa_relation.hpp"
#include "storage/relation/device_sample.hpp"

namespace gpulog::kernels::gpu {
struct join_arguments;
}  // namespace gpulog::kernels::gpu

namespace gpulog::exec {

/// Runs pipelines on a device over hash-indexed sorted arrays, as published: a join writes its candidates to `new` of
/// the head, a body of several joins uses temporary tables, and settle() deduplicates and merges.
class hisa_machine {
 public:
  using relation = storage::gpu::hisa_relation;
  using trace_range = backend::gpu::trace_range;
  static constexpr machine_abilities abilities = {.streams = true, .device_columns = true, .own_clock = true};
  static constexpr bool leaves_steps_to_host = false;
  static constexpr bool ends_costly_runs = false;
  static constexpr bool makes_other_searches = false;  // a match uses the plan's first search

  /// @param resource allocates on the device
  hisa_machine(const backend::gpu::device_context& context, backend::memory_resource& resource, const options& chosen);

  [[nodiscard]] std::unique_ptr<relation> make_relation(std::uint32_t arity, const options& chosen);
  void load_rows(relation& target, const std::vector<const word*>& columns, std::uint64_t rows);
  void adopt_rows(relation& target, const std::vector<const word*>& columns, std::uint64_t rows) {
    target.adopt(columns, rows);
  }
  void settle(relation& target);
  void refresh_index(relation& target, std::size_t index) { target.refresh_index(index); }
  [[nodiscard]] std::unique_ptr<row_stream> stream_rows(const relation& source) const {
    return stream_device_rows(*context_, source);
  }
  [[nodiscard]] std::optional<columns_on_device> device_columns(const relation& source) const {
    return device_columns_of(*context_, source);
  }
  [[nodiscard]] std::vector<const word*> host_columns(relation& source) { return source.host_columns(); }
  void forget_host_columns(relation& source) { source.forget_host_columns(); }
  [[nodiscard]] std::vector<storage::sampled_rows> sample_rows(const std::vector<storage::sampled_columns>& relations,
                                                               std::uint64_t wanted) {
    return storage::gpu::sample_rows(*context_, *resource_, relations, wanted);
  }

  /// @throws kernels::arithmetic_fault, kernels::interrupted, backend::memory_exceeded, backend::gpu::device_error
  pipeline_counts run(const kernels::pipeline& program, kernels::relation_list<relation>& relations, std::uint64_t rows,
                      double expected_candidates, const std::atomic<bool>* stop);

  /// Returns the time per phase, measured on the device. Waits for the device.
  [[nodiscard]] machine_phases phases();

 private:
  /// The input rows of a segment: one column per register that the segment reads.
  struct input_rows {
    std::vector<const word*> columns;  // by register; null: not present
    std::uint64_t rows = 0;
  };
  /// One run of one pipeline.
  struct running {
    const kernels::pipeline& program;
    kernels::relation_list<relation>& relations;
    const std::atomic<bool>* stop;
    pipeline_counts counts;
  };
  /// The outer rows of a segment, and the runs to probe.
  struct expansion {
    std::size_t segment = 0;
    const input_rows* input = nullptr;
    std::uint64_t first_row = 0;
    std::uint64_t rows = 0;
    bool matches = false;
    std::vector<storage::gpu::hisa_run_view> views;
  };
  /// Device memory of one segment, reused from run to run.
  struct segment_memory {
    explicit segment_memory(backend::memory_resource& resource)
        : offsets(resource), ranges(resource), table(resource), table_rows(resource, 1) {}
    backend::array<std::uint64_t> offsets;
    backend::array<storage::row_range> ranges;
    backend::array<word> table;  // [register][row]
    backend::array<std::uint64_t> table_rows;
  };

  /// Runs the pipeline on outer rows [first, first + rows) with temporary tables.
  void run_in_steps(running& run, std::uint64_t first_row, std::uint64_t rows);
  /// Runs the pipeline as nested loops.
  void run_nested(running& run, std::uint64_t first_row, std::uint64_t rows);
  void run_segment(running& run, std::size_t number, const input_rows& input);
  /// @return the number of matches
  std::uint64_t probe(running& run, const expansion& outer);
  void fill_new(running& run, const expansion& outer, std::uint64_t candidates);
  void fill_tables(running& run, const expansion& outer, std::uint64_t candidates);
  void prepare(running& run, const expansion& outer, const std::vector<kernels::register_number>& outputs,
               kernels::gpu::join_arguments& arguments);
  void launch(const kernels::gpu::join_arguments& arguments, std::uint32_t arity, bool into_table);

  const backend::gpu::device_context* context_;
  backend::memory_resource* resource_;
  backend::gpu::phase_clock clock_;
  storage::gpu::hisa_workspace space_;
  parameter_store parameters_;
  std::vector<std::unique_ptr<segment_memory>> segments_;
  backend::array<std::uint64_t> fault_;
  bool nested_;  // whether bodies of several joins run as nested loops
  backend::array<std::uint64_t> places_;
};

static_assert(fixpoint_machine<hisa_machine>);

}  // namespace gpulog::exec
