#pragma once

#include <cstdint>

#include "backend/gpu/vendor.hpp"
#include "kernels/join/device_program.hpp"
#include "kernels/join/nested_program.hpp"

/// A kernel that runs several versions with few rows.
namespace gpulog::kernels::gpu {

constexpr std::uint32_t batch_threads = 128;

/// Outcome of a version in a batch.
struct batch_outcome {
  std::uint64_t candidates = 0;
  std::uint64_t fresh = 0;
  static constexpr std::uint32_t too_little_room = 1;
  static constexpr std::uint32_t too_many_turns = 2;
  std::uint32_t refused = 0;  ///< the version is incomplete; inserted tuples stay, so the whole version can run again
  std::uint32_t fault = 0;
};

struct batch_task {
  nested_body<run_view, set_view> body;
  set_view set;  ///< of the head
  append_counter* counter = nullptr;
  /// No thread inserts beyond this number of rows: the capacity minus one row per thread that inserts into the
  /// relation.
  std::uint64_t safe_rows = 0;
};

/// A report for the host, written into pinned memory by the last block of the batch.
struct batch_report {
  batch_outcome outcome;
  std::uint64_t rows = 0;  ///< of the head
};

constexpr std::uint32_t batch_waves = batch_threads / backend::gpu::wave_size;

/// A block's share of a task: consecutive outer rows.
struct batch_share {
  std::uint32_t task;
  std::uint32_t part;
};

struct batch_arguments {
  const batch_task* tasks = nullptr;
  std::uint32_t task_count = 0;
  const batch_share* shares = nullptr;  ///< one per block
  /// Outer rows of a wave, at most one per lane. With fewer rows, more waves share the matches, and each waits less.
  std::uint32_t rows_of_wave = backend::gpu::wave_size;
  batch_outcome* outcomes = nullptr;  ///< one per task; zero before and after the batch
  std::uint32_t* finished_blocks = nullptr;
  batch_report* reports = nullptr;         ///< one per task, pinned
  std::uint64_t* report_number = nullptr;  ///< pinned, written last
  std::uint64_t number = 0;
};

/// Returns the words of shared memory per block for a pipeline's registers.
[[nodiscard]] inline std::size_t batch_shared_words(const pipeline& program) {
  return static_cast<std::size_t>(program.slot_count) * batch_threads + program.constants.size();
}

/// @param shared_words the maximum over all tasks
void run_batch(const backend::gpu::device_context& context, const batch_arguments& arguments, unsigned blocks,
               std::size_t shared_words);

}  // namespace gpulog::kernels::gpu
