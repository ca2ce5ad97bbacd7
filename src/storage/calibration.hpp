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
/// Slots that a table that grows has for each thread that moves them: starting a thread costs as much as some ten
/// thousand slots; where tuples are read to find a slot, each costs misses in several columns (`bench_tuple_sets`).
inline constexpr std::uint64_t slots_of_a_thread = 1u << 20;
inline constexpr std::uint64_t row_slots_of_a_thread = 1u << 18;
/// How many tuples share a word is told from one word in so many. No command measures it.
inline constexpr std::uint64_t sampled_word_share = 64;
/// Of new tuples with priorities, one part in so many goes first: those that are better than a bound, which so many of
/// them tell (`bench/priority_delta/run`).
inline constexpr std::uint64_t priority_share = 16;
inline constexpr std::uint64_t sampled_priorities = 256;
/// Candidates that are sorted before the rivals of a choice-domain are dropped.
inline constexpr std::uint64_t least_sorted_rivals = 1u << 20;

// Factorized rows (`gpulog -j1 --backend cpu bench/closures/readers.dl -F GRAPH`).
/// Words of rows of bits that are united in the time of a step along an edge of a search.
inline constexpr double row_words_of_a_step = 8;
/// Steps of searches for single pairs of one vertex after which all that it leads to is found.
inline constexpr std::uint64_t least_pair_steps = 256;
/// Rows of bits are written in pieces of so many rows of the relation, and more where a source has more. Others were
/// not tried.
inline constexpr std::uint64_t rows_of_piece = 1u << 20;

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

// Indexes.
/// The runs of an index that grows, on every machine: an elder run is merged with a younger one unless it has at least
/// so many times its rows. So the sizes of runs fall geometrically, and a row is merged a logarithmic number of times.
/// A larger factor merges more often and leaves fewer runs to search (`bench_indexes`: refresh).
inline constexpr std::uint64_t merge_factor = 3;
/// Rows of a run that grows row by row, from which on it becomes a sorted run when rows of a key come apart; fewer are
/// sorted again. No command measures it.
inline constexpr std::uint64_t least_closed_rows = 8;
/// HISA as published merges delta with full in each iteration. That copies full, so fewer rows than this wait in runs
/// of their own: an iteration of few tuples costs what it finds, not what is there (bench/results/first-matches.txt
/// has what it brings; 1,024 to 16,384 were not compared).
inline constexpr std::uint64_t few_hisa_rows = 4096;

// Relations of HISA (`bench/paper/tables --storage hisa`).
/// Candidates between two deduplications are one part in so many of the rows: each merges, that is, copies all of them.
inline constexpr std::uint64_t hisa_candidate_share = 4;
/// Candidates that there is room for on a device from the start; and so much room that it is given back once it is
/// hardly used, as another relation may need the memory more.
inline constexpr std::uint64_t least_hisa_candidates = 1u << 16;
inline constexpr std::uint64_t released_hisa_candidates = 16 * least_hisa_candidates;
/// Fewer rows are sorted by all of their bits at once: another launch would take longer than the passes that it saves.
inline constexpr std::uint64_t few_sorted_rows = 1u << 20;

// Indexes of a device.
/// An index merges its runs before it has more, as a search visits each of them. No command measures it.
inline constexpr std::uint32_t most_device_runs = 12;
/// Rows of each side that tell the size of a join. No command measures it.
inline constexpr std::uint64_t sampled_join_rows = 1u << 20;
/// The number of keys of a run with so few rows isn't asked for: that waits for the device.
inline constexpr std::uint64_t unmeasured_rows = 1u << 16;
/// A run with more rows is sorted where its keys can't be counted by number: a table for as many keys as rows would
/// take too much memory.
inline constexpr std::uint64_t most_table_rows = 1u << 24;
/// A key is looked up by its number where the numbers are at most so much sparser than the keys.
inline constexpr std::uint64_t direct_factor = 4;

/// Of so many edges of a component those that repeat are found by sorting; of more, by marks of the components that
/// they lead to (`bench/closures/threads`; others were not tried).
inline constexpr std::uint64_t most_sorted_successors = 256;
/// Workers share the vertices of a component from so many on, and where these are worth several workers when each
/// counts as so many elements, a part of its edges (`bench/closures/threads`; others were not tried).
inline constexpr std::uint64_t least_shared_vertices = 256;
inline constexpr std::uint64_t edges_of_shared_vertex = 4;
/// Sources are compared with what components lead to where there is one for so many components: a table of these lists
/// takes time, and what is not found costs a vertex (`bench/closures/threads`; others were not tried).
inline constexpr std::uint64_t components_of_looked_up_source = 8;

}  // namespace gpulog::storage::calibration
