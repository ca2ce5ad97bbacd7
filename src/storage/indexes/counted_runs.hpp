#pragma once

#include <cstdint>
#include <vector>

#include "backend/gpu/device.hpp"
#include "storage/relation/views.hpp"

namespace gpulog::storage::gpu {

/// A run that groups rows by key without sorting. Each row finds the slot of its key and draws a number from the slot.
/// Each slot reserves a place per row, in any order, and rows move to these places. The host waits for no step, and a
/// few kernels build all runs of a phase together.
///
/// Searches use the whole key. The code of a key of three and more columns is a hash: during the build, the slot of
/// such a key has the number of a row and a fingerprint, and the run stores the keys of all rows for comparisons.
struct counted_run {
  static constexpr std::uint32_t most_keys = 6;
  static constexpr std::uint32_t most_columns = 10;
  /// Places and slots have 32 bits.
  static constexpr std::uint64_t most_rows = 1ULL << 30;
  /// Maximum rows of a run that one block builds.
  static constexpr std::uint64_t rows_of_block = 2048;

  std::uint64_t rows;
  const word* keys[most_keys];  ///< starting at the run's first row
  std::uint32_t key_length;
  std::uint32_t stored_columns;
  const word* copied[most_columns];
  word* stored;  ///< [stored column][rows]
  /// Lookup of keys: slots of a table, or an entry for each possible number of a key.
  key_slot* table;
  std::uint64_t table_size;  ///< more than rows
  std::uint64_t* numbered;
  std::uint64_t number_count;
  // Scratch memory.
  unsigned long long* taken;  ///< number of places allocated so far
  std::uint32_t* slot_of;     ///< by row
  std::uint32_t* rank_of;     ///< by row, among rows with the same key

  /// Returns whether a code is a hash of the key.
  [[nodiscard]] GPULOG_HOST_DEVICE static constexpr bool is_hashed(std::uint32_t key_length) { return key_length > 2; }
  /// @param stored_columns without the keys
  [[nodiscard]] static constexpr bool supports(std::uint64_t rows, std::uint32_t key_length,
                                               std::uint32_t stored_columns) {
    return rows <= most_rows && key_length <= most_keys &&
           stored_columns + (is_hashed(key_length) ? key_length : 0) <= most_columns;
  }
};

/// Returns the size of the scratch memory for a run in 32-bit words.
[[nodiscard]] constexpr std::uint64_t counted_scratch_words(std::uint64_t rows) { return 2 + 2 * rows; }
/// @param scratch counted_scratch_words() words
inline void give_scratch(counted_run& run, std::uint32_t* scratch) {
  run.taken = reinterpret_cast<unsigned long long*>(scratch);
  run.slot_of = scratch + 2;
  run.rank_of = run.slot_of + run.rows;
}

/// Builds runs of at most rows_of_block rows with one kernel.
/// @param runs in memory that the device reads
void build_small_counted_runs(const backend::gpu::device_context& context, const counted_run* runs, unsigned count);
/// Builds runs of any size with a few kernels.
void build_counted_runs(const backend::gpu::device_context& context, const std::vector<counted_run>& runs);

}  // namespace gpulog::storage::gpu
