#pragma once

#include <functional>
#include <vector>

#include "exec/executor.hpp"
#include "exec/fixpoint/iteration_runner.hpp"
#include "exec/gpu/device_arena.hpp"
#include "kernels/loop/device_loop.hpp"
#include "storage/relation/device_relation.hpp"

namespace gpulog::exec {

/// Runs iterations whose versions have few rows as one kernel (kernels/loop/device_loop.hpp). The host makes space
/// before a launch, and runs phases that the kernel does not support.
class gpu_loop final : public iteration_runner {
 public:
  using relation = storage::gpu::device_relation;
  using relation_list = kernels::relation_list<relation>;
  using steps_maker =
      std::function<std::vector<kernels::gpu::hash_step>(const std::vector<kernels::step>&, array_store&)>;

  /// Returns whether the kernel supports all operators of the versions.
  [[nodiscard]] static bool can_run(const backend::gpu::device_context& context, const looped_stratum& stratum,
                                    const relation_list& relations);
  /// @param steps converts a segment's steps to device form
  /// @param small flushed before the kernel runs
  gpu_loop(const backend::gpu::device_context& context, backend::memory_resource& resource,
           storage::gpu::small_run_builder& small, const cut_offs& cut, looped_stratum stratum,
           relation_list& relations, steps_maker steps);

  [[nodiscard]] looped_iterations run(std::size_t first_phase) override;

 private:
  /// An index of a relation that the loop extends, with memory for runs built by the kernel.
  struct index_memory {
    explicit index_memory(backend::memory_resource& resource) : words(resource) {}
    kernels::relation_number relation = 0;
    std::size_t number = 0;
    backend::array<std::uint64_t> words;
  };
  struct task_list;

  [[nodiscard]] std::uint32_t place_of(kernels::relation_number number) const { return places_[number]; }
  [[nodiscard]] std::uint32_t index_of(kernels::relation_number relation, std::size_t number) const;
  [[nodiscard]] std::uint64_t most_rows_of(const looped_version& version) const;
  [[nodiscard]] bool is_worth_it(std::size_t first_phase) const;
  [[nodiscard]] bool may_be_one_block() const;
  [[nodiscard]] unsigned blocks_needed() const;
  [[nodiscard]] bool make_room(unsigned blocks);
  [[nodiscard]] bool allocate_indexes();
  [[nodiscard]] std::vector<kernels::gpu::loop_index> put_indexes();
  void put_task(const looped_version& version, task_list& made);
  [[nodiscard]] kernels::gpu::loop_arguments put_all(unsigned blocks);
  void learn(const kernels::gpu::loop_state& ended);

  const backend::gpu::device_context* context_;
  storage::gpu::small_run_builder* small_;
  cut_offs cut_;
  looped_stratum stratum_;
  relation_list* relations_;
  steps_maker steps_;
  device_arena arena_;
  std::vector<std::uint32_t> places_;  ///< by relation_number: position among the stratum's relations, or no_relation
  std::vector<index_memory> indexes_;
  std::uint64_t run_rows_ = 0;  ///< maximum rows of a run built by the kernel
  std::uint32_t slot_count_ = 0;
  std::uint32_t constant_count_ = 0;
  unsigned most_blocks_ = 0;
  std::uint64_t results_bytes_ = 0;  ///< size of the part of the arena to read back
  // Number of iterations to skip the kernel for, after a launch that ended early.
  std::uint32_t left_out_ = 0;
  std::uint32_t next_left_out_ = 0;
};

}  // namespace gpulog::exec
