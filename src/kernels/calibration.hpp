#pragma once

#include <cstdint>

/// Thresholds between ways of running a pipeline, and sizes of pieces of work. Each number names the program that tells
/// whether a different value is better: `bench/vary NAME VALUE... -- PROGRAM` builds the command with each value and
/// compares the builds. "No command measures it" marks a number chosen by estimate.
namespace gpulog::kernels::calibration {

// Joins on the host.
/// Number of pieces into which the groups of an aggregate are split if several workers may need the same groups: after
/// each piece, a worker checks whether a different worker has folded the rest. No command measures it.
inline constexpr std::uint32_t fold_pieces = 8;
/// Bindings per group, on average, below which folding a group costs less than a lookup. No command measures it.
inline constexpr std::uint64_t few_fold_bindings = 64;
/// Rows per binding in the first round of a search for a first match; each round doubles the number
/// (`bench/first_matches`).
inline constexpr std::uint64_t first_match_rows = 4;
/// Matches of a key that are stored without a branch, because most keys have few (`bench_match` of bench/micro).
inline constexpr std::uint32_t branchless_matches = 4;
/// Minimum rows of a scan, and of a key, to sort for comparisons, and the number of bindings that must have read the
/// rows before. No command measures them.
inline constexpr std::uint64_t least_sorted_scan_rows = 64;
inline constexpr std::uint64_t least_sorted_key_rows = 256;
inline constexpr std::uint64_t bindings_before_sorting = 16;

// Results of aggregates, remembered for bindings with the same key (`bench/aggregates`).
/// Number of stored results after which to judge whether remembering pays.
inline constexpr std::uint64_t judged_results = 1U << 12;
/// Bindings per group below which folding a group again is as fast as a lookup.
inline constexpr std::uint64_t worthwhile_bindings = 8;
/// Remembering also stops if, after judged_requests requests, fewer than one in seldom_found was a hit.
inline constexpr std::uint64_t seldom_found = 16;
inline constexpr std::uint64_t judged_requests = 1U << 18;

// Joins on a device.
/// Minimum matches of a lane for the whole wave to process together (`bench/paper/tables sg`).
inline constexpr std::uint32_t long_range = 48;
/// What a thread examines alone for the first match of its row, before all lanes of the wave examine the rest together:
/// matches of the first atom, and iterations of the loops over inner atoms (`bench/first_matches --backend gpu`; no
/// other value was compared).
inline constexpr std::uint64_t matches_alone = 8;
inline constexpr std::uint32_t turns_alone = 64;

// Row-wise evaluation (`bench/paper/ablation sg cspa`).
/// Sample size, in rows, to estimate the candidates per result before a relation is evaluated row by row.
inline constexpr std::uint64_t sampled_results_rows = 256;
/// The sample takes at most one row in this many, because sampled rows are evaluated twice (no other value was tried).
inline constexpr std::uint64_t least_sampled_results_step = 16;
/// Results stay words if columns would take at least this many times the memory (bench/results/host-row-products.txt).
inline constexpr double columns_of_word_lists = 1.5;
/// Sort the words of a row with a bitmap if it needs at most this many 64-bit marks per word (no other value was
/// tried).
inline constexpr std::uint64_t marks_of_sorted_word = 1;
/// Times of a word of a row, and of the preparation of a row that is read, in bindings of a pipeline. No command
/// measures them.
inline constexpr double row_word_bindings = 0.25;
inline constexpr double prepared_row_bindings = 4;
/// Sample sizes, in rows, for the expected candidates of a stratum, and of a version, which is sampled in each
/// iteration.
inline constexpr std::uint64_t sampled_stratum_rows = 1u << 16;
inline constexpr std::uint64_t sampled_version_rows = 1u << 13;
/// A row with more than 1/large_row_share of the candidates per worker is started first, so that it does not end last.
inline constexpr std::uint64_t large_row_share = 64;
/// A rule of a loop is not sampled if its last run had fewer candidates per row than the threshold divided by this
/// number. No command measures it.
inline constexpr double most_growth = 2;
/// The number of candidates is counted in an array if the range of the join variable is at most this many times the
/// number of rows; otherwise the sample is sorted. No command measures it.
inline constexpr std::uint64_t most_middle_values_per_row = 16;
/// Values from this bound on get numbers if most words of a row's bitmap have one value, and the bound is at least this
/// many times the number of values. No command measures it.
inline constexpr std::uint64_t least_numbered_values = 1u << 16;
inline constexpr std::uint64_t values_per_number = 8;
/// On a device: words that a wave marks at a time; maximum probes for a word before its row counts as too large for the
/// table; words of bitmaps that a wave scans together.
inline constexpr std::uint64_t marked_share = 2048;
inline constexpr std::uint32_t most_row_probes = 256;
inline constexpr std::uint64_t bitmap_tile = 256;
/// Slots of the table for a row computed by one wave, or by one block.
inline constexpr std::uint32_t wave_row_slots = 256;
inline constexpr std::uint32_t block_row_slots = 2048;

// The device loop (`bench/paper/tables cspa`, and bench/paper/reach.dl with `--tune rows=search` on a road
// network, which has many iterations of few rows).
/// One block needs no fence between phases and works in its cache: faster while there are few shares. Above the second
/// number of shares, the block gives way to more blocks.
inline constexpr std::uint32_t shares_of_one_block = 64;
inline constexpr std::uint32_t most_shares_of_one_block = 128;
/// Several blocks give way to one block after this many consecutive phases with few shares.
inline constexpr std::uint32_t phases_until_one_block = 32;
/// Iterations between checks whether the host wants to stop. No command measures it.
inline constexpr std::uint32_t most_loop_iterations = 1024;
/// Bytes of shared memory for steps: more would leave space for only a few blocks.
inline constexpr std::uint64_t most_loop_step_bytes = 24u << 10;
/// Maximum loop iterations of a thread in a batch: a version with more matches per key is left to the kernels that
/// split matches.
inline constexpr std::uint32_t batch_turns = 512;

/// Number the values of a column with a table over all values if the table has at most this many slots per row: twice
/// the size of a hash table (`bench/closures/threads`; no other value was tried).
inline constexpr std::uint64_t numbering_slots_of_row = 4;

/// Use values directly as numbers if they are below this many times the number of rows, so that arrays indexed by value
/// are not much larger than the rows (`bench/closures/threads`; no other value was tried).
inline constexpr std::uint64_t numbers_of_row = 1;

/// Costs of product rows, relative to the check whether a row has a block of groups: visiting a block that has bits,
/// uniting a group of bits, allocating a group (bench/paper/sg.dl, as for exec::calibration::steps_of_product_pair).
inline constexpr std::uint64_t steps_of_block = 8;
inline constexpr std::uint64_t steps_of_united_group = 8;
inline constexpr std::uint64_t steps_of_new_group = 32;

}  // namespace gpulog::kernels::calibration
