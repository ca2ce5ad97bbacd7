#pragma once

#include <cstdint>

/// Thresholds at which a representation of rows, sets or indexes becomes worthwhile, and initial sizes. On a host,
/// bench/micro measures the thresholds (`bench_tuple_sets`, `bench_indexes`), and `bench/compare` compares two builds;
/// on a device, `bench/paper/builds` does. The values were chosen on the machines of bench/results; no command measures
/// a single value.
namespace gpulog::storage::calibration {

// Tuple sets of the host.
/// A bit matrix of at most this size fits into a processor's private cache, in bytes.
inline constexpr std::uint64_t small_matrix_bytes = 256u << 10;
/// Limit for the ratio of a bit matrix's size to the size of a hash set that has to grow, on a device, too: clearing
/// the matrix takes less time than the additional cost of probing.
inline constexpr std::uint64_t matrix_per_hash = 8;
/// A hash set of words is worthwhile once a packed set is larger than the caches, in bytes, and if enough tuples share
/// a word.
inline constexpr std::uint64_t least_packed_bytes = 16u << 20;
inline constexpr double tuples_per_word = 2;
/// Minimum number of slots that a worker moves at a time when a table grows; fewer if tuples are read to find a slot,
/// because each read misses the cache in several columns (`bench_tuple_sets`).
/// With 2^20 and 2^18, the growing sets of java_points_to with 16 threads took 0.20 s, with these numbers 0.15 s; no
/// command prints this time.
inline constexpr std::uint64_t slots_of_a_thread = 1u << 16;
inline constexpr std::uint64_t row_slots_of_a_thread = 1u << 15;
/// Rows that workers insert into a new set between two growths. No command measures it.
inline constexpr std::uint64_t rows_between_growths = 1u << 18;
/// The number of tuples per word is estimated from one word in this many. No command measures this value.
inline constexpr std::uint64_t sampled_word_share = 64;
/// Of new tuples with priorities, one part in this many is evaluated first: tuples that are better than a bound
/// estimated from a sample (`bench/priority_delta/run`).
inline constexpr std::uint64_t priority_share = 16;
inline constexpr std::uint64_t sampled_priorities = 256;
/// Number of candidates that are sorted before the rivals of a choice-domain are dropped.
inline constexpr std::uint64_t least_sorted_rivals = 1u << 20;

// Factorized rows (`gpulog -j1 --backend cpu bench/closures/readers.dl -F GRAPH`).
/// Words of rows of bits that are combined in the time of a single step along an edge.
inline constexpr double row_words_of_a_step = 8;
/// After this many steps of searches for single pairs of one vertex, all components reachable from the vertex are
/// computed.
inline constexpr std::uint64_t least_pair_steps = 256;
/// Rows of bits are written in pieces of this many rows of the relation, and more if a source has more. No further
/// values were tried.
inline constexpr std::uint64_t rows_of_piece = 1u << 20;

// Indexes of the host.
/// A single worker sorts at least this many rows by counting if no value is larger than this factor times their number:
/// a table of counts then takes at most half the time of the passes over digits. For fewer rows the table costs more
/// than the passes.
inline constexpr std::uint64_t least_counted_rows = 256;
inline constexpr std::uint64_t counted_factor = 2;

// Tuple sets and rows of a device.
/// Limit for the time to clear a bit matrix, which equals the time to grow a small set: in seconds, based on the
/// device's memory bandwidth; in bytes if the bandwidth is unknown.
inline constexpr double clearing_seconds = 7e-6;
inline constexpr std::uint64_t small_matrix_bytes_of_unknown_devices = 8u << 20;
/// Number of rows from which a hash set of words is worthwhile, because the set exceeds the cache.
inline constexpr std::uint64_t least_rows_of_words = 16u << 20;
/// Initial sizes of sets and relations. Below the fast-growth sizes they grow faster, as each growth waits for the
/// device.
inline constexpr std::uint64_t least_slots = 1u << 14;
inline constexpr std::uint64_t fast_growth_slots = 1u << 25;
inline constexpr std::uint64_t initial_rows = 1u << 14;
inline constexpr std::uint64_t fast_growth_rows = 1u << 25;
/// Number of rows above which rows that are not the best are dropped.
inline constexpr std::uint64_t least_compacted_rows = 1u << 20;

// Indexes.
/// Growth of indexes, on every machine: an elder run is merged with a younger one unless it has at least this factor
/// times the younger run's rows. Therefore the sizes of runs decrease geometrically, and each row is merged a
/// logarithmic number of times. A larger factor causes more merges and leaves fewer runs to search (`bench_indexes`:
/// refresh).
inline constexpr std::uint64_t merge_factor = 3;
/// Keys of a block when several workers merge two runs on a host. 8,192 was used before and not compared alone
/// (`bench/threads`).
inline constexpr std::uint64_t merged_keys_of_block = 2048;
/// Rows of a run that grows row by row, from which on it becomes a sorted run when rows of a key come apart; fewer are
/// sorted again. No command measures it.
inline constexpr std::uint64_t least_closed_rows = 8;
/// The published HISA merges delta with full in each iteration, which copies full. Therefore fewer rows than this limit
/// remain in separate runs: the cost of a small iteration depends on its new tuples instead of the size of full
/// (bench/results/first-matches.txt contains the effect; 1,024 to 16,384 were not compared).
inline constexpr std::uint64_t few_hisa_rows = 4096;

// Relations of HISA (`bench/paper/tables --storage hisa`).
/// The number of candidates between two deduplications is one part in this many of the rows: each deduplication merges,
/// that is, copies all rows.
inline constexpr std::uint64_t hisa_candidate_share = 4;
/// Initial capacity for candidates on a device, and the capacity above which unused room is released, as another
/// relation may need the memory.
inline constexpr std::uint64_t least_hisa_candidates = 1u << 16;
inline constexpr std::uint64_t released_hisa_candidates = 16 * least_hisa_candidates;
/// Fewer rows than this are sorted by all of their bits at once: a further launch would take longer than the passes
/// saved.
inline constexpr std::uint64_t few_sorted_rows = 1u << 20;

// Indexes of a device.
/// Maximum number of runs in an index, since a search visits each run. No command measures this value.
inline constexpr std::uint32_t most_device_runs = 12;
/// Number of rows per side in the sample that estimates the size of a join. No command measures this value.
inline constexpr std::uint64_t sampled_join_rows = 1u << 20;
/// The number of keys in a run with fewer rows is not read, because reading waits for the device.
inline constexpr std::uint64_t unmeasured_rows = 1u << 16;
/// A run with more rows is sorted unless its keys can be counted by number: a table with a slot per row would take too
/// much memory.
inline constexpr std::uint64_t most_table_rows = 1u << 24;
/// Keys are looked up by number if the range of numbers is at most this factor larger than the number of keys.
inline constexpr std::uint64_t direct_factor = 4;

/// Up to this many edges of a component are deduplicated by sorting; more edges by marks of the target components
/// (`bench/closures/threads`; no further values were tried).
inline constexpr std::uint64_t most_sorted_successors = 256;
/// Workers share the vertices of a component with at least this many vertices, if the work suffices for several workers
/// when each vertex counts as this many elements, a part of its edges (`bench/closures/threads`; no further values were
/// tried).
inline constexpr std::uint64_t least_shared_vertices = 256;
inline constexpr std::uint64_t edges_of_shared_vertex = 4;
/// Sources are compared with the lists of components if there is one source per this many components: the table of
/// lists takes time, and a source without a match costs a vertex (`bench/closures/threads`; no further values were
/// tried).
inline constexpr std::uint64_t components_of_looked_up_source = 8;

}  // namespace gpulog::storage::calibration
