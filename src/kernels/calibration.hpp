#pragma once

#include <cstdint>

/// Where one way of running a pipeline begins to pay, and how work is cut. Each number says which program tells whether
/// another value is better: `bench/vary NAME VALUE... -- PROGRAM` builds the command with each value and compares them.
/// What says that no command measures it was chosen by what it weighs.
namespace gpulog::kernels::calibration {

// Joins of the host.
/// Groups of an aggregate that workers may want at the same time are folded in so many pieces: between two of them a
/// worker looks whether another one has folded the rest . No command measures it.
inline constexpr std::uint32_t fold_pieces = 8;
/// Bindings of a group, on average, below which folding costs less than looking for it again. No command measures it.
inline constexpr std::uint64_t few_fold_bindings = 64;
/// Rows of a binding in the first round of a search for a first match; each round has twice as many
/// (`bench/first_matches`).
inline constexpr std::uint64_t first_match_rows = 4;
/// Matches of a key that are stored without a branch, as most keys have few (`bench_match` of bench/micro).
inline constexpr std::uint32_t branchless_matches = 4;
/// Rows of a scan, and of a key, from which on they are sorted for comparisons, once so many bindings have asked for
/// them. No command measures them.
inline constexpr std::uint64_t least_sorted_scan_rows = 64;
inline constexpr std::uint64_t least_sorted_key_rows = 256;
inline constexpr std::uint64_t bindings_before_sorting = 16;

// Results of aggregates that are kept for bindings with the same key (`bench/aggregates`).
/// Results that are kept before it is judged whether that pays.
inline constexpr std::uint64_t judged_results = 1U << 12;
/// Groups with fewer bindings than this are folded again as fast as they are found.
inline constexpr std::uint64_t worthwhile_bindings = 8;
/// The same where hardly a group is asked for twice: one of so many requests finds its group, after so many requests.
inline constexpr std::uint64_t seldom_found = 16;
inline constexpr std::uint64_t judged_requests = 1U << 18;

// Joins of a device.
/// Matches of a lane that its whole wave goes through together (`bench/paper/tables sg`).
inline constexpr std::uint32_t long_range = 48;
/// What a thread looks at for the first match of its own row, before all lanes of its wave look at the rest together:
/// matches of the first atom, and turns of the loops over the inner ones (`bench/first_matches --backend gpu`; other
/// values were not compared).
inline constexpr std::uint64_t matches_alone = 8;
inline constexpr std::uint32_t turns_alone = 64;

// Row-wise evaluation (`bench/paper/ablation sg cspa`).
/// Rows whose candidates for each result are counted before a relation is made row-wise.
inline constexpr std::uint64_t sampled_results_rows = 256;
/// At most one row of so many is counted: what is counted is made again (others were not tried).
inline constexpr std::uint64_t least_sampled_results_step = 16;
/// Results stay words where columns would take so many times their memory (bench/results/host-row-products.txt).
inline constexpr double columns_of_word_lists = 1.5;
/// Words of a row are sorted by marks where these are at most so many times as many as words (others were not tried).
inline constexpr std::uint64_t marks_of_sorted_word = 1;
/// Rows of relations that a stratum's expected candidates are told from; and a version's, which is asked in each
/// iteration.
inline constexpr std::uint64_t sampled_stratum_rows = 1u << 16;
inline constexpr std::uint64_t sampled_version_rows = 1u << 13;
/// A row with more candidates than one part in so many of what a worker has is begun with first, so that it does not
/// end last.
inline constexpr std::uint64_t large_row_share = 64;
/// Where a rule of a loop had so many times fewer candidates a row than would pay, it is not asked how many it has now.
/// No command measures it.
inline constexpr double most_growth = 2;
/// A sample is counted by value where the values in the middle of a rule are at most so many times as many as rows;
/// else it is sorted. No command measures it.
inline constexpr std::uint64_t most_middle_values_per_row = 16;
/// Values from this bound on get numbers where most words of a row's bitmap have one value, and so many times as many
/// values are below the bound as there are. No command measures it.
inline constexpr std::uint64_t least_numbered_values = 1u << 16;
inline constexpr std::uint64_t values_per_number = 8;
/// On a device: words that a wave marks at a time; places where a word is looked for before its row counts as one that
/// has no room; words of bitmaps that a wave looks at together.
inline constexpr std::uint64_t marked_share = 2048;
inline constexpr std::uint32_t most_row_probes = 256;
inline constexpr std::uint64_t bitmap_tile = 256;
/// Slots of the table of a row that one wave makes, and that a block makes.
inline constexpr std::uint32_t wave_row_slots = 256;
inline constexpr std::uint32_t block_row_slots = 2048;

// The loop of a device (`bench/paper/tables cspa`, and bench/paper/reach.dl with `--tune row-takeover=off` over a road
// network, which has many iterations of few rows).
/// One block needs no fence between its phases and keeps in its cache what it works on: it is faster as long as shares
/// are few. With more than the second number it gives up its place to more blocks.
inline constexpr std::uint32_t shares_of_one_block = 64;
inline constexpr std::uint32_t most_shares_of_one_block = 128;
/// Several blocks give up theirs to one after so many phases with few shares.
inline constexpr std::uint32_t phases_until_one_block = 32;
/// Iterations after which the host is asked whether it wants to stop. No command measures it.
inline constexpr std::uint32_t most_loop_iterations = 1024;
/// Bytes of shared memory for steps: more leave room for few blocks.
inline constexpr std::uint64_t most_loop_step_bytes = 24u << 10;
/// Turns of loops that a thread of a batch may take: a version with a key of more matches is left to the kernels that
/// split them.
inline constexpr std::uint32_t batch_turns = 512;

/// Values of one column are numbered by a table of all values where it has at most so many slots for each row: twice a
/// hash table's size (`bench/closures/threads`; others were not tried).
inline constexpr std::uint64_t numbering_slots_of_row = 4;

/// Values are numbers themselves where they are below so many times the rows, so that what is kept by number is not
/// much larger than the rows (`bench/closures/threads`; others were not tried).
inline constexpr std::uint64_t numbers_of_row = 1;

/// Memory for a group of bits of a row of products costs about as much as looking at so many groups of other rows.
inline constexpr std::uint64_t steps_of_new_group = 32;

}  // namespace gpulog::kernels::calibration
