#pragma once

#include <cstdint>
#include <vector>

#include "backend/gpu/device.hpp"
#include "storage/relation/views.hpp"

namespace gpulog::storage::gpu {

/// A run that groups rows by key without sorting: each row finds its key's slot and takes a number there, slots
/// allocate as many places as they have rows, in any order, and rows move to their slot's places. No step waits for the
/// device, and a few kernels build all runs of a phase together.
///
/// For keys of one or two columns, searched as a whole.
struct counted_run {
  static constexpr std::uint32_t most_keys = 2;
  static constexpr std::uint32_t most_columns = 4;
  /// Places and slots have 32 bits.
  static constexpr std::uint64_t most_rows = 1ULL << 30;

  std::uint64_t rows = 0;
  const word* keys[most_keys] = {};  ///< starting at the run's first row
  std::uint32_t key_length = 0;
  std::uint32_t stored_columns = 0;
  const word* copied[most_columns] = {};
  word* stored = nullptr;  ///< [stored column][rows]
  /// Lookup of keys: slots of a table, or an entry for each possible number of a key.
  key_slot* table = nullptr;
  std::uint64_t table_size = 0;  ///< more than rows
  std::uint64_t* numbered = nullptr;
  std::uint64_t number_count = 0;
  // Scratch memory.
  unsigned long long* taken = nullptr;  ///< number of places allocated so far
  std::uint32_t* slot_of = nullptr;     ///< by row
  std::uint32_t* rank_of = nullptr;     ///< by row, among rows with the same key
};

/// Returns the size of the scratch memory for a run in 32-bit words.
[[nodiscard]] constexpr std::uint64_t counted_scratch_words(std::uint64_t rows) { return 2 + 2 * rows; }
/// @param scratch counted_scratch_words() words
inline void give_scratch(counted_run& run, std::uint32_t* scratch) {
  run.taken = reinterpret_cast<unsigned long long*>(scratch);
  run.slot_of = scratch + 2;
  run.rank_of = run.slot_of + run.rows;
}

void build_counted_runs(const backend::gpu::device_context& context, const std::vector<counted_run>& runs);

}  // namespace gpulog::storage::gpu
