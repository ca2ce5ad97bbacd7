#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "exec/fixpoint.hpp"
#include "kernels/cuda/device_program.hpp"
#include "storage/cuda/device_relation.hpp"

namespace gpulog::exec {

/// Runs pipelines on a CUDA device, segment by segment: a degree pass and a scan split the work by candidates, then one
/// fused kernel expands, filters, tests and inserts. Between segments, bindings stand in tables of a bounded size
/// (temporarily-materialised joins, in chunks).
class cuda_machine {
 public:
  using relation = storage::cuda::device_relation;

  /// @param resource allocates on the device
  cuda_machine(const backend::cuda::device_context& context, backend::memory_resource& resource);
  ~cuda_machine();
  cuda_machine(const cuda_machine&) = delete;
  cuda_machine& operator=(const cuda_machine&) = delete;

  [[nodiscard]] std::unique_ptr<relation> make_relation(std::uint32_t arity, const options& chosen);
  void load_rows(relation& target, const std::vector<const word*>& columns, std::uint64_t rows);
  void settle(relation& target) { target.read_tail(); }
  void refresh_index(relation& target, std::size_t index) { target.refresh_index(index); }
  [[nodiscard]] std::vector<const word*> host_columns(relation& source) { return source.host_columns(); }

  /// @throws kernels::arithmetic_fault, kernels::interrupted, backend::memory_exceeded, backend::cuda::cuda_error
  pipeline_counts run(const kernels::pipeline& program, kernels::relation_list<relation>& relations, std::uint64_t rows,
                      double expected_candidates, const std::atomic<bool>* stop);

 private:
  /// The rows that a segment starts from: a column for each register that it reads.
  struct input_rows {
    std::vector<const word*> columns;  // by register; null: not there
    std::uint64_t rows = 0;
  };
  /// Device memory of one segment, kept from run to run.
  struct segment_memory {
    explicit segment_memory(backend::memory_resource& resource)
        : offsets(resource),
          ranges(resource),
          scratch(resource),
          table(resource),
          table_pointers(resource),
          table_rows(resource, 1) {}
    backend::array<std::uint64_t> offsets;
    backend::array<storage::row_range> ranges;
    backend::array<std::uint8_t> scratch;
    backend::array<word> table;  // [output][row]
    backend::array<word*> table_pointers;
    backend::array<std::uint64_t> table_rows;
  };
  /// One run of one pipeline.
  struct running {
    const kernels::pipeline& program;
    kernels::relation_list<relation>& relations;
    const std::atomic<bool>* stop;
    pipeline_counts counts;
  };

  void run_segment(running& run, std::size_t number, const input_rows& input);
  void expand(running& run, std::size_t number, kernels::cuda::expand_arguments& arguments, std::uint64_t candidates);
  void insert_pieces(running& run, kernels::cuda::expand_arguments& arguments, std::uint64_t candidates);
  void table_pieces(running& run, std::size_t number, kernels::cuda::expand_arguments& arguments,
                    std::uint64_t candidates, const std::vector<kernels::register_number>& outputs);
  void prepare_steps(running& run, std::size_t number, kernels::cuda::expand_arguments& arguments);
  std::uint64_t find_matches(running& run, std::size_t number, const input_rows& input, std::uint64_t first_row,
                             std::uint64_t rows, const std::vector<storage::cuda::run_view>& views,
                             kernels::cuda::expand_arguments& arguments);
  void make_space(running& run, std::uint64_t candidates);

  /// Sets small arrays aside for the kernels of this run, in pinned memory; flush_parameters copies them, many at a
  /// time.
  template <class T>
  const T* upload(const std::vector<T>& values);
  void flush_parameters();
  void start_parameters();

  const backend::cuda::device_context* context_;
  backend::memory_resource* resource_;
  std::vector<std::unique_ptr<segment_memory>> segments_;
  backend::array<std::uint8_t> parameters_;
  std::uint8_t* staged_parameters_ = nullptr;
  std::uint64_t parameters_used_ = 0;
  std::uint64_t parameters_flushed_ = 0;
  backend::array<std::uint32_t> fault_;
};

}  // namespace gpulog::exec
