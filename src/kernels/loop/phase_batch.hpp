#pragma once

#include <cstdint>

#include "kernels/join/device_program.hpp"
#include "kernels/join/nested_program.hpp"

/// Versions with few rows, run by one kernel.
namespace gpulog::kernels::gpu {

constexpr std::uint32_t batch_threads = 128;

/// What a version of a batch did.
struct batch_outcome {
  std::uint64_t candidates = 0;
  std::uint64_t fresh = 0;
  static constexpr std::uint32_t too_little_room = 1;
  static constexpr std::uint32_t too_many_turns = 2;
  std::uint32_t refused = 0;  ///< it was not finished; what it inserted stays, so it can be run again as a whole
  std::uint32_t fault = 0;
};

struct batch_task {
  nested_body<run_view, set_view> body;
  set_view set;  ///< of the head: arity 0 to 2
  append_counter* counter = nullptr;
  /// Nobody inserts when there are more rows: the rows that there is room for, less one for each thread of the batch
  /// that inserts into the same relation.
  std::uint64_t safe_rows = 0;
};

/// What the host reads: written into pinned memory by the batch's last block.
struct batch_report {
  batch_outcome outcome;
  std::uint64_t rows = 0;  ///< of the head
};

/// A block's share: 128 outer rows of a task.
struct batch_share {
  std::uint32_t task;
  std::uint32_t part;
};

struct batch_arguments {
  const batch_task* tasks = nullptr;
  std::uint32_t task_count = 0;
  const batch_share* shares = nullptr;  ///< one a block
  batch_outcome* outcomes = nullptr;    ///< one a task, zero; zero again when the batch has ended
  std::uint32_t* finished_blocks = nullptr;
  batch_report* reports = nullptr;         ///< one a task, pinned
  std::uint64_t* report_number = nullptr;  ///< pinned, written last
  std::uint64_t number = 0;
};

/// Words of shared memory that a block needs for a pipeline's registers.
[[nodiscard]] inline std::size_t batch_shared_words(const pipeline& program) {
  return static_cast<std::size_t>(program.slot_count) * batch_threads + program.constants.size();
}

/// @param shared_words those of the task that needs most
void run_batch(const backend::gpu::device_context& context, const batch_arguments& arguments, unsigned blocks,
               std::size_t shared_words);

}  // namespace gpulog::kernels::gpu
