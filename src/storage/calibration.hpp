#pragma once

#include <cstdint>

/// Where one representation of rows, sets or indexes begins to pay, and the room that they begin with. On a host,
/// bench/micro has what measures them (`bench_tuple_sets`, `bench_indexes`), and `bench/compare` compares two builds;
/// on a device, `bench/paper/builds` does. They were chosen on the machines of bench/results; no command measures one
/// alone.
namespace gpulog::storage::calibration {

// Tuple sets of the host.
/// A bit matrix that fits into a processor's own cache, in bytes.
inline constexpr std::uint64_t small_matrix_bytes = 256u << 10;
/// A bit matrix may be so many times as large as the hash set that has to grow, on a device, too: clearing it takes
/// less time than what probing costs more.
inline constexpr std::uint64_t matrix_per_hash = 8;
/// A hash set of words pays once a packed one is larger than caches, in bytes, and where so many tuples share a word.
inline constexpr std::uint64_t least_packed_bytes = 16u << 20;
inline constexpr double tuples_per_word = 2;
/// Candidates that are sorted before the rivals of a choice-domain are dropped.
inline constexpr std::uint64_t least_sorted_rivals = 1u << 20;

// Indexes of the host.
/// One worker sorts so many rows by counting where no value is larger than so many times their number: a table of
/// counts takes at most half of what the passes over digits would. For few rows it costs more than these passes.
inline constexpr std::uint64_t least_counted_rows = 256;
inline constexpr std::uint64_t counted_factor = 2;

// Tuple sets and rows of a device.
/// A bit matrix that takes no longer to clear than a growth of a small set: seconds, at the rate of the device's
/// memory; bytes, where that is not known.
inline constexpr double clearing_seconds = 7e-6;
inline constexpr std::uint64_t small_matrix_bytes_of_unknown_devices = 8u << 20;
/// Rows from which on a hash set of words pays: it is larger than the cache then.
inline constexpr std::uint64_t least_rows_of_words = 16u << 20;
/// Sets and relations begin so large. Up to the second size they grow faster, as every growth waits for the device.
inline constexpr std::uint64_t least_slots = 1u << 14;
inline constexpr std::uint64_t fast_growth_slots = 1u << 25;
inline constexpr std::uint64_t initial_rows = 1u << 14;
inline constexpr std::uint64_t fast_growth_rows = 1u << 25;
/// Rows of which those that are not the best are dropped.
inline constexpr std::uint64_t least_compacted_rows = 1u << 20;

// Indexes of a device.
/// The number of keys of a run with so few rows isn't asked for: that waits for the device.
inline constexpr std::uint64_t unmeasured_rows = 1u << 16;
/// A run with more rows is sorted where its keys can't be counted by number: a table for as many keys as rows would
/// take too much memory.
inline constexpr std::uint64_t most_table_rows = 1u << 24;
/// A key is looked up by its number where the numbers are at most so much sparser than the keys.
inline constexpr std::uint64_t direct_factor = 4;

}  // namespace gpulog::storage::calibration
