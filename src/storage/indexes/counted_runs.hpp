#pragma once

#include <cstdint>
#include <vector>

#include "backend/gpu/device.hpp"
#include "storage/relation/views.hpp"

namespace gpulog::storage::gpu {

/// A run whose rows are brought together by key without being sorted: each row finds its key's slot and takes a number
/// there, slots take as many places as they have rows, in any order, and rows go to their slot's places. Nothing is
/// asked of the device in between, and all runs that a phase needs are made by the same few kernels.
///
/// For keys of one or two columns, searched as a whole.
struct counted_run {
  static constexpr std::uint32_t most_keys = 2;
  static constexpr std::uint32_t most_columns = 4;
  /// Places and slots have 32 bits.
  static constexpr std::uint64_t most_rows = 1ULL << 30;

  std::uint64_t rows = 0;
  const word* keys[most_keys] = {};  ///< at the run's first row
  std::uint32_t key_length = 0;
  std::uint32_t stored_columns = 0;
  const word* copied[most_columns] = {};
  word* stored = nullptr;  ///< [stored column][rows]
  /// Where keys are: slots of a table, or one for every number that a key can have.
  key_slot* table = nullptr;
  std::uint64_t table_size = 0;  ///< more than rows
  std::uint64_t* numbered = nullptr;
  std::uint64_t number_count = 0;
  // Scratch memory.
  unsigned long long* taken = nullptr;  ///< places so far
  std::uint32_t* slot_of = nullptr;     ///< by row
  std::uint32_t* rank_of = nullptr;     ///< by row, among those of its key
};

/// Scratch memory that a run needs, in words of 32 bits.
[[nodiscard]] constexpr std::uint64_t counted_scratch_words(std::uint64_t rows) { return 2 + 2 * rows; }
/// @param scratch so many words
inline void give_scratch(counted_run& run, std::uint32_t* scratch) {
  run.taken = reinterpret_cast<unsigned long long*>(scratch);
  run.slot_of = scratch + 2;
  run.rank_of = run.slot_of + run.rows;
}

void build_counted_runs(const backend::gpu::device_context& context, const std::vector<counted_run>& runs);

}  // namespace gpulog::storage::gpu
