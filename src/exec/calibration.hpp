#pragma once

#include <cstdint>

#include "kernels/row_wise/row_wise_task.hpp"

/// Rates of machines, and thresholds between evaluation methods. Costs are in seconds. Device figures are for an H200;
/// placement scales them by memory bandwidth. Each group names the command that measures it, or the program whose time
/// depends on it: `bench/vary NAME VALUE... -- COMMAND` builds with different values and compares. Numbers without a
/// program in bench say so.
namespace gpulog::exec::calibration {

// One processor of the host (`bench/placement rates`).
inline constexpr double host_candidates_per_second = 15e6;   ///< of rules, including the necessary indexes
inline constexpr double host_searched_per_second = 150e6;    ///< of a decomposed recursion
inline constexpr double host_loaded_rows_per_second = 25e6;  ///< not parallel
inline constexpr double host_version_seconds = 8e-6;
inline constexpr double host_stratum_seconds = 5e-6;
/// Expected share of all step tuples that a search visits: closures of graphs differ too much for more than a guess. No
/// command measures it.
inline constexpr double likely_share_of_steps = 0.005;
/// n processors do the work of n to this power, because they wait for memory and for each other.
inline constexpr double host_scaling = 0.4;
inline constexpr double host_search_scaling = 0.65;
/// Candidates per additional worker.
inline constexpr double candidates_of_a_worker = 1u << 16;
/// Candidates that a worker produces and offers per second if few are new: converts the time of a version's last run to
/// candidates. Chosen with bench/analyses/java_points_to.dl and 16 processors; no command measures it.
inline constexpr double host_offered_per_second = 3e7;
/// Tiles that a worker takes at a time: fewer tiles cost more synchronization, more tiles leave workers idle at the end
/// (`gpulog -j8 bench/analyses/java_points_to.dl`).
inline constexpr std::uint64_t tiles_of_a_piece = 4;
/// Tiles that wait for other workers, per worker: a bound for memory, about 20 KiB each. No command measures it.
inline constexpr std::uint64_t shared_tiles_of_a_worker = 64;
/// Rows below which a step ends before anyone could observe it, so the monitor is not notified: a chain of 10^6
/// iterations takes as long with -p as without. No command measures it.
inline constexpr std::uint64_t least_watched_rows = 4096;
/// Rows dropped by subsumption before columns are compacted; and average rows per key from which on a key first
/// searches for rows that dominate many (command in bench/results/two-processors-subsumption.txt).
inline constexpr std::uint64_t least_dropped_rows = 1024;
inline constexpr std::uint64_t long_chain = 8;
/// Candidates of a step that takes little longer than reading the clock, and how many of such steps follow one that is
/// measured (`bench/small_iterations/run`: reading the clock for each takes 10 to 20 % of the time).
inline constexpr std::uint64_t candidates_of_short_step = 256;
inline constexpr unsigned unmeasured_steps = 15;
/// Rows of a delta up to which tests with constants come before a run (`bench/small_iterations/run`).
inline constexpr std::uint64_t tested_rows = 8;
/// Time of a version's run without work. No command measures it.
inline constexpr double host_run_seconds = 2e-6;

/// Facts that workers load in the first round, when the share of distinct rows is unknown, and the share of new rows
/// from which on the rest is one round (`bench/closures/threads`; no other value was compared).
inline constexpr std::uint64_t first_rows_at_once = 1u << 15;
inline constexpr double new_share_of_one_round = 7.0 / 8;

/// Maximum inserted facts per existing fact for a continuation (`bench/again`).
inline constexpr double most_continued_share = 0.1;

/// Tuples that a deletion finds before it is abandoned for an evaluation from scratch: at least, and the share of the
/// time of that evaluation after which it is abandoned (`bench_deletions`: a deleted tuple takes as long as 10
/// candidates).
inline constexpr std::uint64_t least_deleted = 4096;
inline constexpr double seconds_share_of_deleted = 0.2;
inline constexpr double candidates_of_deleted_tuple = 10;
/// Rows taken over for deletions, with sets and indexes (`bench/state --parts`).
inline constexpr double host_taken_over_rows_per_second = 20e6;
/// Share of the time of an evaluation from scratch that a restored engine may spend on a deletion that is abandoned,
/// including the takeover of the results (`bench/state`).
inline constexpr double restored_share_for_deletions = 0.3;

/// Rate of storing results (`bench/state`), and the largest part of the time of their evaluation that storing may take.
inline constexpr double stored_bytes_per_second = 1e9;
inline constexpr double most_storing_share = 0.25;
/// Further results are stored, the smallest first, if storing takes up to this part of the time of the evaluation, and
/// at least up to this size in bytes (`bench/state`: java_points_to needs 250 KB more). No other numbers were tried.
inline constexpr double small_storing_share = 0.05;
inline constexpr double least_stored_bytes = 1 << 16;

/// A running recursion is planned again each time its joins have produced this part of their bindings since the last
/// plan, so that a wrong order costs a similarly small part (`bench/orders loops`).
inline constexpr std::uint64_t reoptimized_part = 16;

// Supplementary relations (`bench/regret`); further numbers are in plan/cost/calibration.hpp.
/// What a version may make after a change of its order, relative to its bindings per row of the delta before, and in
/// addition (2 ms; doubles with each change). An order changes only if half of the bindings are expected, but relations
/// may grow meanwhile. No command measures these numbers.
inline constexpr double worse_order_factor = 1.5;
inline constexpr double free_order_bindings = 1 << 18;
/// Bindings that readers make for a row, before they have read any.
inline constexpr double expected_row_bindings = 4;
/// What a supplementary relation may cost more than it saves: free bindings (plan/cost/calibration.hpp), a share of the
/// other work of its stratum, or what the rules would have taken without it.
inline constexpr double supplementary_share = 0.25;

// Closures over components, derived from the runs in bench/results/condensation.txt (`gpulog -j1 --backend cpu [--tune
// rows=search] -F GRAPH bench/paper/reach.dl`); no command measures them separately.
/// Values, as searches would visit them, if components are used instead.
inline constexpr double host_condensed_per_second = 2e9;
/// Minimum values that searches visit per row for components to pay: below, numbering the rows costs more.
inline constexpr double least_met_by_row = 48;
/// Words of rows of bits that are united.
inline constexpr double host_row_words_per_second = 2e9;
/// Sample searches, spread evenly.
inline constexpr std::uint64_t sampled_searches = 64;
/// The sample takes at most this part of the time that it may save, and may always visit this many values.
inline constexpr double sample_share = 1.0 / 32;
inline constexpr double least_sample_values = 1 << 14;

// Rows counted by several ranks (`bench/ranks`; figures are in bench/results/ranks.txt).
/// Bytes per second that all other ranks of a host together receive from rank 0: 0.1 to 2.6 x 10^9 for 2 to 8 ranks,
/// waits for ranks included.
inline constexpr double rank_bytes_per_second = 1e9;
/// Seconds of a task without data: ranks that wait for a task sleep for up to 2 ms.
inline constexpr double rank_task_seconds = 0.005;
/// Seconds that rank 0 waits until the devices of followers have started: 0.16 to 0.18 with two H200 (the record's
/// waiting_seconds of `gpulog --ranks 2 --backend gpu --tune divided-strata=on bench/paper/reach.dl -F GRAPH`).
inline constexpr double rank_device_seconds = 0.16;
/// Rows that a follower sends to rank 0 in a message, 16 MB per column. No other number was tried.
inline constexpr std::uint64_t rows_of_rank_message = std::uint64_t{1} << 22;
/// Seconds to send a new row to one rank, which searches the row in its set: twice the 45 ns of SG over CA-HepTh, where
/// each of four ranks received 155 M rows (`gpulog --ranks 4 --tune divided-strata=on --tune rows=off
/// bench/paper/sg.dl`).
inline constexpr double exchanged_row_seconds = 1e-7;
/// Seconds of a stratum at rank 0 before the ranks divide the rest, and between two comparisons of the new rows per
/// second with the rate of rank 0 alone. No other number was tried.
inline constexpr double least_division_seconds = 0.1;

// Searches of factorized rows (`gpulog -j1 --backend cpu bench/closures/readers.dl -F GRAPH`).
/// Search steps in the time to materialize a row and insert it into a set or an index. The readers take equally long
/// with 1 and with 64.
inline constexpr double searched_steps_of_row = 8;
/// Columns may take one part in this many of the remaining memory if there is an alternative: a set, and a copy of the
/// columns during its construction, take three times as much. No command measures it.
inline constexpr std::uint64_t column_share = 4;
/// Rows of a piece that a worker takes at a time, and rows that it writes before it runs a rule on them.
inline constexpr std::uint64_t read_piece_rows = 1u << 20;
inline constexpr std::uint64_t written_piece_rows = 1u << 12;

// The device (`bench/placement rates`).
inline constexpr double measured_device_bytes_per_second = 4.8e12;  ///< of the measured device; rates scale with it
inline constexpr double device_candidates_per_second = 4e9;
inline constexpr double device_searched_per_second = 20e9;
inline constexpr double device_version_seconds = 45e-6;
inline constexpr double device_stratum_seconds = 30e-6;
/// Times of an iteration in the loop kernel, and of an iteration launched by the host.
inline constexpr double looped_iteration_seconds = 8e-6;
inline constexpr double launched_iteration_seconds = 60e-6;
inline constexpr double iteration_version_seconds = 1e-6;
/// Maximum delta rows for which placement expects the loop kernel. No command measures it.
inline constexpr std::uint64_t most_looped_rows = 1u << 16;
/// Share of the work that the host does in strata with host steps, including copies.
inline constexpr double host_step_share = 0.9;

// What placement learns while a program runs (`bench/placement`).
/// Shorter strata are not dominated by candidates, so their rates are meaningless.
inline constexpr double least_learned_seconds = 1e-3;
/// Maximum correction factor of a rate, because a single stratum may be an outlier.
inline constexpr double most_correction = 4;
/// Maximum expected growth of an iteration's time over the last iteration: a step from a few rows to many says little.
inline constexpr double most_expected_growth = 64;
/// Interval for checks whether the device has started or another rank has failed. Waking a thread for each stratum
/// would cost more than most strata. No command measures it.
inline constexpr double stop_watch_seconds = 2e-3;

// A copy between host and device, including preparation of the relation (`bench/placement rates`).
inline constexpr double crossing_seconds_of_a_relation = 60e-6;
inline constexpr double crossing_bytes_per_second = 5e9;

// Thresholds for row-wise evaluation: rows read, candidates, candidates per row read, candidates per result; for a
// whole stratum, and in addition to a recursion. Each row read must give several candidates: with 1 to 4, rows took up
// to 2.4 times as long as a pipeline (bench/results/row-wise-evaluation.txt, h200-rows-inside.txt).
// `bench/paper/ablation sg cspa` measures the gain.
inline constexpr kernels::row_wise_cut_offs host_row_wise_pays = {1024, 0, 3, 2};
inline constexpr kernels::row_wise_cut_offs host_added_row_wise_pays = {1024, 65536, 3, 0};
inline constexpr kernels::row_wise_cut_offs device_row_wise_pays = {16384, 32e6, 4, 2};
inline constexpr kernels::row_wise_cut_offs device_added_row_wise_pays = {16384, 64e6, 4, 4};

/// Minimum searches with one block each for a device to be busy. No command measures it.
inline constexpr std::uint64_t least_device_searches = 32;

/// Minimum first tuples for row takeover on a device: faster on each measured graph, from 7,029 edges on (`--tune
/// rows=recursions` and `rows=search` with bench/paper/reach.dl; bench/results/h200-row-takeover.txt).
inline constexpr std::uint64_t least_takeover_tuples = 4096;
// Row takeover (`bench/paper/tables reach` with builds of different values, `bench/paper/builds`).
/// Threads per searching block, by the bytes of a row of bits: few, so that many searches run at a time, except for
/// rows that leave space for only a few blocks. Larger rows have 1,024 threads; rows that do not fit into shared memory
/// 256 (128: 1.1 to 1.24 times the time, 512: 2.0 to 2.1; bench/results/h100-closures.txt).
inline constexpr std::uint64_t row_bytes_for_128_threads = 40u << 10;
inline constexpr std::uint64_t row_bytes_for_256_threads = 100u << 10;
/// Lists of at most one part in this many of the words of a row of bits are faster to take over than bits.
inline constexpr std::uint32_t list_share = 4;
/// Stored rows take at most one part in this many of the device's memory. If that is too small, repeated searches get
/// one part in again_share of it.
inline constexpr std::uint64_t kept_row_share = 8;
inline constexpr std::uint64_t again_share = 4;
/// Compact rows may take one part in this many of the free memory, if that is more. No other value was tried.
inline constexpr std::uint64_t free_row_share = 3;
/// Minimum first tuples for product recursions as rows of bits: SG on graphs of 3,000 edges takes a fifth of the loop's
/// time with one processor, and small graphs take no longer. On a device, faster on each measured graph, from 51,971
/// edges on (`--tune rows=recursions` and `rows=loop` with bench/paper/sg.dl; bench/results/h100-row-products.txt).
inline constexpr std::uint64_t least_host_product_tuples = 1024;
inline constexpr std::uint64_t least_device_product_tuples = 4096;
/// Product rows are computed in topological order while no row takes longer than this, times the share of the device
/// that waits for it: about the launch cost of a round (`bench/paper/tables sg` with builds of different values: from
/// 16 to 22 us each graph took the better way; at 14 us SF.cedge took 1.4 times as long, at 25 ego-Facebook 2.5 times).
inline constexpr double waited_row_seconds = 18e-6;
/// Product rows take at most one part in this many of the device's memory. No command measures it.
inline constexpr std::uint64_t product_row_share = 4;
/// Maximum rounds of products launched before their counts are read (`bench/paper/tables sg`).
inline constexpr std::size_t rounds_at_once = 16;
/// Numbers checked by a pull in the time of one push (`bench/paper/tables sg`: different values changed no graph by
/// more than 5 %).
inline constexpr std::uint64_t pushes_of_pull = 1;
/// On a device, up to this many rows are computed as products regardless of growth; with more rows, only if each tuple
/// gives more than one tuple. Chosen with forests and random graphs of 50,000 to 150,000 edges; no command measures it.
inline constexpr std::uint64_t small_product_rows = 16384;
/// Limits on steps (visited blocks and groups of rows) per pair read and per tuple produced on a host: more steps mean
/// nearly empty rows, where the loop costs less. A step takes 0.3 to 1 ns, so the loss is less than the time to read
/// the facts; a tuple in the loop takes 20 to 90 ns. The graphs of bench/results/host-row-products.txt with
/// bench/paper/sg.dl need at most 2 steps per pair beyond those per tuple.
inline constexpr double steps_of_product_pair = 8;
inline constexpr double steps_of_product_tuple = 16;
/// Tables of places of groups, without blocks, take at most one part in this many of the host's memory, and at most
/// this many bytes per pair read: about the memory of the pairs in the loop. No command measures them.
inline constexpr std::uint64_t product_table_share = 8;
inline constexpr double table_bytes_of_product_pair = 32;

/// Values serve directly as row numbers if there are at most this many per row of the relations; otherwise values are
/// numbered, so that bits are dense. No command measures it.
inline constexpr std::uint64_t values_of_a_row = 4;

/// Margin on results estimated from a sample. Too little costs a second run of some searches or rows; too much costs
/// memory. No command measures it.
inline constexpr double sample_margin = 1.1;

// Sizes of pieces of device work, and initial space for results. Larger pieces need more memory, smaller pieces more
// launches. Chosen on an H200; `bench/paper/builds` compares two builds.
/// One part in this many of the device's memory for the queues of running searches, and for bitmaps of rows.
inline constexpr std::uint64_t queue_share = 8;
inline constexpr std::uint64_t bitmap_share = 16;
/// Sample sizes for the number of results, as multiples of the parts that run at a time, with space for this many
/// results. Results added to a relation get at least as much space as the relation has rows.
inline constexpr std::uint64_t sample_searches = 2;
inline constexpr std::uint64_t sample_search_rows = 64u << 20;
inline constexpr std::uint64_t sample_rounds = 4;
inline constexpr std::uint64_t sample_row_results = 16u << 20;
inline constexpr std::uint64_t least_added_results = 1u << 20;
/// A row with less work is never marked in a bitmap at first.
inline constexpr std::uint64_t least_large_work = 1u << 16;
/// Rows of a table between two joins, and the minimum if memory is short.
inline constexpr std::uint64_t table_rows = 16u << 20;
inline constexpr std::uint64_t least_table_rows = 64u << 10;
/// Rows whose matches are looked up at a time.
inline constexpr std::uint64_t match_rows = 64u << 20;
/// Minimum candidates of a launch while memory can still grow.
inline constexpr std::uint64_t least_piece = 4u << 20;
/// Margin for rows expected from candidates, because their share varies.
inline constexpr double margin_of_rows = 1.25;
/// Rows that an aggregate, a range, lookups or the host process at a time, and values of a range.
inline constexpr std::uint64_t fold_rows = 4u << 20;
/// Factorized rows that are materialized at a time for a rule, except that a single source or node may have more
/// (`bench/vary asked_rows` with bench/closures/readers.dl; no other value was tried).
inline constexpr std::uint64_t asked_rows = 64u << 20;
/// A factorized relation on a device gets columns after rules have materialized this many times its rows. Columns with
/// an index take 15 to 24 times as long as materializing each row once: 0.1 ns per row, and 4 to 7 ps (SF.cedge and
/// com-dblp on an H100; `bench/vary asked_work_of_row` with bench/closures/readers.dl shows a wrong value).
inline constexpr double asked_work_of_row = 16;
/// Fixed cost of one probe, in rows (about 40 us). Small relations therefore get columns before a recursion, and soon
/// after a rule (the same with `bench/vary work_of_asking`).
inline constexpr std::uint64_t work_of_asking = 8u << 20;
/// Rows whose matches an aggregate counts at a time.
inline constexpr std::uint64_t counted_rows = 16u << 20;
inline constexpr std::uint64_t range_rows = 16u << 20;
inline constexpr std::uint64_t range_values = 16u << 20;
inline constexpr std::uint64_t lookup_rows = 16u << 20;
inline constexpr std::uint64_t host_rows = 2u << 20;
/// Space for new records: the maximum possible number up to this limit, then half of the existing records; and the
/// minimum if memory is short.
inline constexpr std::uint64_t least_new_records = 256u << 10;
inline constexpr std::uint64_t fewest_new_records = 4096;
/// Versions with more expected candidates, or with more rows, run in separate kernels, or are not launched ahead.
inline constexpr double most_batch_candidates = 1u << 15;
inline constexpr std::uint64_t most_rows_of_one_launch = 8u << 20;
/// Minimum outer rows of a wave in a batch: a batch lasts as long as its slowest wave, which has fewer matches with
/// fewer rows. Compared with 32 only, on the programs in bench/results/h100-index-runs.txt, with the commands there.
inline constexpr std::uint32_t least_rows_of_wave = 4;
/// Input rows of a match from which on a scan of CUB sums the degrees, instead of the kernel that finds them. Sums of
/// all sizes in that kernel cost SG 1.05 of its time; other bounds were not compared
/// (bench/results/h100-index-runs.txt).
inline constexpr std::uint64_t rows_of_long_sums = 1u << 17;
/// Initial space for rows of a batch and of a loop, in addition to one row per thread.
inline constexpr std::uint64_t batch_room = 4096;
inline constexpr std::uint64_t loop_room = 4096;
/// Maximum candidates per row of a version in a loop iteration: nested loops do not split candidates evenly.
inline constexpr std::uint64_t candidates_per_loop_row = 4;
/// Memory of all index runs in a loop.
inline constexpr std::uint64_t loop_index_bytes = 64u << 20;
/// A launch of the loop kernel, with its preparation, costs about as much as this many regular iterations.
inline constexpr std::uint64_t iterations_of_a_launch = 4;
/// Minimum number of blocks of a loop with several blocks.
inline constexpr unsigned least_loop_blocks = 4;
/// Maximum indexes that one block builds in sequence before more blocks are faster.
inline constexpr std::size_t indexes_of_one_block = 8;
/// Minimum space of an index run in a loop.
inline constexpr std::uint64_t least_loop_run_rows = 64;
/// Fewer rows are copied to the host at once.
inline constexpr std::uint64_t least_streamed_rows = 1u << 16;

// Reading facts.
/// Minimum rows, or bytes of a file, for which the device probably has work, so that it is started while they are read
/// (`bench/placement`).
inline constexpr std::uint64_t rows_for_a_device = 50'000;
inline constexpr std::uint64_t bytes_for_a_device = 500'000;
/// Seconds that a device takes to start, if unknown (bench/results/h200-sides.txt).
inline constexpr double device_start_seconds = 0.3;
/// Text of files that is read before it is parsed (`bench/loading`; further values in bench/results/loading.txt), in
/// bytes.
inline constexpr std::uint64_t bytes_ahead = std::uint64_t{64} << 20;

// Statistics of facts.
/// Sample rows per relation: estimates are off by a few percent and take 50 us (`bench/orders`, and the time of
/// reoptimization in --stats).
inline constexpr std::uint64_t measured_rows = 1U << 13;
/// Minimum matching pairs of two samples for an estimate of the shared keys: the error is about a sixth (1 / sqrt(32),
/// computed; no other value was tried).
inline constexpr double least_sampled_matches = 32;
/// Minimum fact rows for counting distinct values at the start, and slots of the counting table: minimum, maximum, and
/// per row (`bench/orders`).
inline constexpr std::uint64_t counted_fact_rows = 1u << 22;
inline constexpr std::uint64_t least_counting_slots = 64;
inline constexpr std::uint64_t most_counting_slots = 1u << 21;
inline constexpr std::uint64_t counting_slots_of_row = 4;
/// Rows per thread of this count (`bench/closures/threads`: measure; no other value was tried).
inline constexpr std::uint64_t counted_rows_of_thread = 1u << 17;
/// Maximum values of two groups of columns to compare. No command measures it.
inline constexpr std::uint64_t compared_values = 1u << 16;

// Dense-domain encoding (`bench/paper/ablation reach`).
/// With fewer fact rows, only a hash set pays.
inline constexpr std::uint64_t least_encoded_rows = 1024;
/// Minimum ratio of a matrix over values to a matrix over numbers.
inline constexpr std::uint64_t least_encoding_gain = 4;
/// Maximum matrix bytes per fact row, the expected limit of a relation's tuples.
inline constexpr std::uint64_t matrix_bytes_of_row = 65536;

// Texts inserted as columns (`bench/python` with texts): minimum texts per thread; and maximum symbols whose table fits
// into a processor's cache.
inline constexpr std::uint64_t texts_of_a_thread = std::uint64_t{1} << 14;
inline constexpr std::uint64_t symbols_in_a_cache = std::uint64_t{1} << 15;

// Proofs of tuples: maximum tuples visited for a proof of minimal height, then with linear forms of the rules, then for
// any proof; and maximum stored rule instances, of about 60 bytes each. The first two together should take less than
// half a second: time gpulog --why 'r(5,1700)' of r(x,z) :- r(x,y), r(y,z) on a graph of 3,200 nodes.
inline constexpr std::uint64_t proof_layer_looks = 1'000'000;
inline constexpr std::uint64_t proof_linear_looks = 3'000'000;
inline constexpr std::uint64_t proof_deep_looks = 50'000'000;
inline constexpr std::uint64_t proof_most_instances = 4'000'000;

}  // namespace gpulog::exec::calibration
