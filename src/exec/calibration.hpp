#pragma once

#include <cstdint>

#include "kernels/row_wise/row_wise_task.hpp"

/// Rates of machines, and where one way of working begins to pay. Costs are seconds. Of devices the figures are an
/// H200's; placement scales them by the bandwidth of the device's memory. Each group says which command measures it, or
/// whose time it moves: `bench/vary NAME VALUE... -- COMMAND` builds with other values and compares what they take.
/// What no program of bench shows says so.
namespace gpulog::exec::calibration {

// One processor of the host (`bench/placement rates`).
inline constexpr double host_candidates_per_second = 15e6;   ///< of rules, with the indexes that they need
inline constexpr double host_searched_per_second = 150e6;    ///< of a recursion that falls apart into searches
inline constexpr double host_loaded_rows_per_second = 25e6;  ///< not parallel
inline constexpr double host_version_seconds = 8e-6;
inline constexpr double host_stratum_seconds = 5e-6;
/// Which part of all tuples of its steps a search meets: closures of graphs differ too much for more than a guess. No
/// command measures it.
inline constexpr double likely_share_of_steps = 0.005;
/// n processors do the work of n to this power: what they wait for is memory, and each other.
inline constexpr double host_scaling = 0.4;
inline constexpr double host_search_scaling = 0.65;
/// Candidates that are worth another worker.
inline constexpr double candidates_of_a_worker = 1u << 16;
/// Candidates that a worker makes and offers in a second where few are new: from the time of a version's last run
/// follows how many candidates its next one is worth. Chosen with bench/analyses/java_points_to.dl and 16 processors;
/// no command measures it.
inline constexpr double host_offered_per_second = 3e7;
/// Tiles that a worker takes at a time: fewer tiles cost more of what workers share, more tiles leave workers without
/// work at the end (`gpulog -j8 bench/analyses/java_points_to.dl`).
inline constexpr std::uint64_t tiles_of_a_piece = 4;
/// Rows below which work is over before others could look at it, so that the monitor is not told: a chain of 10^6
/// iterations takes as long with -p as without. No command measures it.
inline constexpr std::uint64_t least_watched_rows = 4096;
/// Rows that subsumption has dropped before columns are compacted; and rows of a key, on average, from which on it
/// looks first for rows that dominate many (bench/results/two-processors-subsumption.txt has the command).
inline constexpr std::uint64_t least_dropped_rows = 1024;
inline constexpr std::uint64_t long_chain = 8;
/// Candidates of a step that takes little longer than reading the clock, and how many of such steps follow one that is
/// measured (`bench/small_iterations/run`: reading the clock for each takes 10 to 20 % of the time).
inline constexpr std::uint64_t candidates_of_short_step = 256;
inline constexpr unsigned unmeasured_steps = 15;
/// A run of a version that does nothing. No command measures it.
inline constexpr double host_run_seconds = 2e-6;

/// Rows of facts that workers store in the first round, when nobody knows how many of them differ, and the part of them
/// that has to be new for the rest to be one round (`bench/closures/threads`; other values were not compared).
inline constexpr std::uint64_t first_rows_at_once = 1u << 15;
inline constexpr double new_share_of_one_round = 7.0 / 8;

/// Inserted facts for each one that was there, up to which results are taken over and go on (`bench/again`).
inline constexpr double most_continued_share = 0.1;

/// Recursions are planned again while they run, each time their joins have made this part of their bindings since the
/// last time, so that a wrong order takes about as little too long (`bench/orders loops`).
inline constexpr std::uint64_t reoptimized_part = 16;

// Supplementary relations (`bench/regret`).
/// Bindings in the time in which a row is stored: in the relation's set, and in the indexes that its readers search.
/// The classification of GALEN takes 440 ns a row, a binding 8 ns; with 16, SG keeps its supplementary relation.
inline constexpr double stored_row_bindings = 16;
/// Bindings that readers make for a row, before they have read any.
inline constexpr double expected_row_bindings = 4;
/// What a supplementary relation may cost more than it saves: bindings (about 17 ms), a share of the other work of its
/// stratum, or what the rules would have taken without it.
inline constexpr double free_supplementary_bindings = 1 << 21;
inline constexpr double supplementary_share = 0.25;

// Closures over components. They follow from the runs in bench/results/condensation.txt (`gpulog -j1 --backend cpu
// [--tune condensation=off] -F GRAPH bench/paper/reach.dl`); no command measures them alone.
/// Values as searches would meet them, where components are taken in their place.
inline constexpr double host_condensed_per_second = 2e9;
/// What searches have to meet for each row, where finding components may pay: less than that costs less than numbers
/// for the rows.
inline constexpr double least_met_by_row = 48;
/// Words of rows of bits that are united.
inline constexpr double host_row_words_per_second = 2e9;
/// Searches of a sample, spread evenly.
inline constexpr std::uint64_t sampled_searches = 64;
/// The sample takes this part, at most, of the time that it may spare, and may always meet so many values.
inline constexpr double sample_share = 1.0 / 32;
inline constexpr double least_sample_values = 1 << 14;

// Factorized rows that are searched (`gpulog -j1 --backend cpu bench/closures/readers.dl -F GRAPH`).
/// Steps of searches in the time that a row takes which gets columns, and a place in a set or an index. With 1 and with
/// 64 these readers take the same time.
inline constexpr double searched_steps_of_row = 8;
/// Columns may take one part in so many of the memory that is left, where there is another way: a set, and a copy of
/// the columns while it is made, take three times as much. No command measures it.
inline constexpr std::uint64_t column_share = 4;
/// Rows of a piece that a worker takes at a time, and that it writes before it goes through a rule with them.
inline constexpr std::uint64_t read_piece_rows = 1u << 20;
inline constexpr std::uint64_t written_piece_rows = 1u << 12;

// The device (`bench/placement rates`).
inline constexpr double measured_device_bytes_per_second = 4.8e12;  ///< by its properties; others are scaled
inline constexpr double device_candidates_per_second = 4e9;
inline constexpr double device_searched_per_second = 20e9;
inline constexpr double device_version_seconds = 45e-6;
inline constexpr double device_stratum_seconds = 30e-6;
/// An iteration in a loop that the device runs by itself, and one whose kernels the host launches.
inline constexpr double looped_iteration_seconds = 8e-6;
inline constexpr double launched_iteration_seconds = 60e-6;
inline constexpr double iteration_version_seconds = 1e-6;
/// Rows of a delta up to which a device runs iterations by itself, as placement expects it. No command measures it.
inline constexpr std::uint64_t most_looped_rows = 1u << 16;
/// Of the work of a stratum some of whose steps the host makes, its part, and copying there and back.
inline constexpr double host_step_share = 0.9;

// What placement learns while a program runs (`bench/placement`).
/// Of a stratum that takes less, it is not the candidates that take the time: its rate says nothing.
inline constexpr double least_learned_seconds = 1e-3;
/// Rates are corrected by this factor at most: one stratum may be unlike all others.
inline constexpr double most_correction = 4;
/// An iteration of a recursion is expected to take so many times as long as the last one, at most: a step from a few
/// rows to many says little about the many.
inline constexpr double most_expected_growth = 64;
/// How often it is looked whether the device has started. A thread that is woken for each stratum would cost more than
/// most strata. No command measures it.
inline constexpr double ready_watch_seconds = 2e-3;

// A copy between them, with what the other side needs to have the relation (`bench/placement rates`).
inline constexpr double crossing_seconds_of_a_relation = 60e-6;
inline constexpr double crossing_bytes_per_second = 5e9;

// Row-wise evaluation: relations read, candidates made, candidates for each row read, candidates for each result. In
// place of a stratum, and in addition to what a recursion has. A row that is read has to have several candidates: with
// 1 to 4 of them rows took up to 2.4 times as long as a pipeline (bench/results/row-wise-evaluation.txt,
// h200-rows-inside.txt). What rows bring is measured by `bench/paper/ablation sg cspa`.
inline constexpr kernels::row_wise_cut_offs host_row_wise_pays = {1024, 0, 3, 2};
inline constexpr kernels::row_wise_cut_offs host_added_row_wise_pays = {1024, 65536, 3, 0};
inline constexpr kernels::row_wise_cut_offs device_row_wise_pays = {16384, 32e6, 4, 2};
inline constexpr kernels::row_wise_cut_offs device_added_row_wise_pays = {16384, 64e6, 4, 4};

/// Searches of a block each, below which most of a device has nothing to do. No command measures it.
inline constexpr std::uint64_t least_device_searches = 32;

/// First tuples from which on searches of a device take over complete rows: it was faster for each graph that was
/// measured, from 7,029 edges on (`--tune row-takeover=on` and `=off` with bench/paper/reach.dl;
/// bench/results/h200-row-takeover.txt).
inline constexpr std::uint64_t least_takeover_tuples = 4096;
// Row takeover (`bench/paper/tables reach` with builds of other values, `bench/paper/builds`).
/// Threads of a block that searches for a source, by the bytes of a row of bits: few, so that many searches are under
/// way, but for rows that leave room for few blocks; larger rows have 1,024, and those without a place in the block's
/// memory 256 (128: 1.1 to 1.24 times the time, 512: 2.0 to 2.1; bench/results/h100-closures.txt).
inline constexpr std::uint64_t row_bytes_for_128_threads = 40u << 10;
inline constexpr std::uint64_t row_bytes_for_256_threads = 100u << 10;
/// Lists of up to one part in so many of the words of a row of bits are quicker to take over than bits.
inline constexpr std::uint32_t list_share = 4;
/// Kept rows take one part in so many of the device's memory at most. Where that is not enough for all, searches that
/// run again have one part in so many of it.
inline constexpr std::uint64_t kept_row_share = 8;
inline constexpr std::uint64_t again_share = 4;
/// Compact rows may take one part in so many of what is free, if that is more. It was not varied.
inline constexpr std::uint64_t free_row_share = 3;
/// First tuples from which on a recursion of products is made by rows of bits: SG of graphs of 3,000 edges takes a
/// fifth of the loop's time with one processor, and small ones no more. On a device it was faster for each graph that
/// was measured, from 51,971 edges on (`--tune row-products=on` and `=off` with bench/paper/sg.dl;
/// bench/results/h100-row-products.txt).
inline constexpr std::uint64_t least_host_product_tuples = 1024;
inline constexpr std::uint64_t least_device_product_tuples = 4096;
/// Rows of products are made in topological order as long as none takes longer than this, times the part of the device
/// that waits for it: about what launching a round costs (`bench/paper/tables sg` with builds of other values: from 16
/// to 22 us each graph took the better way; at 14 us SF.cedge took 1.4 times as long, at 25 ego-Facebook 2.5 times).
inline constexpr double waited_row_seconds = 18e-6;
/// Rows of bits of products take one part in so many of the device's memory at most. No command measures it.
inline constexpr std::uint64_t product_row_share = 4;
/// Rounds of products that are launched before their counts are read, at most (`bench/paper/tables sg`).
inline constexpr std::size_t rounds_at_once = 16;
/// So many numbers are asked for their sources in the time of one push (`bench/paper/tables sg`: other values
/// changed no graph by more than 5 %).
inline constexpr std::uint64_t pushes_of_pull = 1;
/// On a device, up to so many rows it is made so however few tuples follow each; of more, only where more than one
/// does. Chosen with forests and random graphs of 50,000 to 150,000 edges; no command measures it.
inline constexpr std::uint64_t small_product_rows = 16384;
/// Groups of rows that a host looks at for each pair that it reads, and for each tuple that it makes: where there are
/// more, rows are nearly empty, and the loop costs less. A step takes 0.3 to 1 ns, so what is lost then is about what
/// reading the facts takes; a tuple takes the loop 20 to 90 ns (bench/paper/sg.dl with the graphs of
/// bench/results/host-row-products.txt; other values were not tried).
inline constexpr double steps_of_product_pair = 128;
inline constexpr double steps_of_product_tuple = 16;
/// Tables of all groups of rows take this part of a host's memory at most. No command measures it.
inline constexpr std::uint64_t product_table_share = 8;

/// Values are numbers of rows themselves where there are at most so many for each row of the relations: else numbers
/// are given, so that bits stand side by side. No command measures it.
inline constexpr std::uint64_t values_of_a_row = 4;

/// Room for results whose number a sample tells, over what it tells. Too little costs a second run of some searches or
/// rows; too much costs memory. No command measures it.
inline constexpr double sample_margin = 1.1;

// Pieces that a device's work is cut into, and the room that results begin with. Larger pieces take memory, smaller
// ones more launches. They were chosen on an H200; `bench/paper/builds` compares two builds.
/// Of the device's memory, one part in so many is for the queues of searches that are under way, and for bitmaps of
/// rows.
inline constexpr std::uint64_t queue_share = 8;
inline constexpr std::uint64_t bitmap_share = 16;
/// The first searches, and the first rows, tell how many results there will be: so many times as many as are under way
/// at a time, with room for so many results. Results that are added to a relation have room for as many as it has, at
/// least.
inline constexpr std::uint64_t sample_searches = 2;
inline constexpr std::uint64_t sample_search_rows = 64u << 20;
inline constexpr std::uint64_t sample_rounds = 4;
inline constexpr std::uint64_t sample_row_results = 16u << 20;
inline constexpr std::uint64_t least_added_results = 1u << 20;
/// A row with less work than this is never marked in a bitmap from the start.
inline constexpr std::uint64_t least_large_work = 1u << 16;
/// Rows of a table between two joins; the least where memory is short.
inline constexpr std::uint64_t table_rows = 16u << 20;
inline constexpr std::uint64_t least_table_rows = 64u << 10;
/// Rows whose matches are found at a time.
inline constexpr std::uint64_t match_rows = 64u << 20;
/// A launch of fewer candidates than this isn't worth it while memory can still grow.
inline constexpr std::uint64_t least_piece = 4u << 20;
/// Room for rows that candidates are expected to become, where the part of them that does so varies.
inline constexpr double margin_of_rows = 1.25;
/// Rows that an aggregate, a range, lookups or the host take at a time, and values of a range.
inline constexpr std::uint64_t fold_rows = 4u << 20;
/// Rows that are made at a time of kept rows that a rule asks for, or those of one source or node (`bench/vary
/// asked_rows` with bench/closures/readers.dl; it was not varied).
inline constexpr std::uint64_t asked_rows = 64u << 20;
/// A factorized relation of a device gets columns when rules have asked it for so many times its rows. Columns with an
/// index take 15 to 24 times as long as making each row once: 0.1 ns for a row, and 4 to 7 ps (SF.cedge and com-dblp on
/// an H100; `bench/vary asked_work_of_row` with bench/closures/readers.dl shows when it is wrong).
inline constexpr double asked_work_of_row = 16;
/// Asking takes launches, and waits for the device: as long as making so many rows, about 40 us. So small relations get
/// columns in front of a recursion, and soon behind a rule (the same with `bench/vary work_of_asking`).
inline constexpr double work_of_asking = 8u << 20;
/// Rows whose matches an aggregate counts at a time.
inline constexpr std::uint64_t counted_rows = 16u << 20;
inline constexpr std::uint64_t range_rows = 16u << 20;
inline constexpr std::uint64_t range_values = 16u << 20;
inline constexpr std::uint64_t lookup_rows = 16u << 20;
inline constexpr std::uint64_t host_rows = 2u << 20;
/// New records that there is room for: all that there can be up to here, then as many as half of those that are there;
/// and where memory ends.
inline constexpr std::uint64_t least_new_records = 256u << 10;
inline constexpr std::uint64_t fewest_new_records = 4096;
/// Versions with more expected candidates, or with more rows, get kernels of their own, or are not launched ahead.
inline constexpr double most_batch_candidates = 1u << 15;
inline constexpr std::uint64_t most_rows_of_one_launch = 8u << 20;
/// Room for rows that a batch of versions, and a loop, start with, beside one for each thread.
inline constexpr std::uint64_t batch_room = 4096;
inline constexpr std::uint64_t loop_room = 4096;
/// Candidates of a version in an iteration of a loop for each row: nested loops do not split them evenly.
inline constexpr std::uint64_t candidates_per_loop_row = 4;
/// Memory of all runs that indexes get in a loop.
inline constexpr std::uint64_t loop_index_bytes = 64u << 20;
/// A launch of a loop, and what it needs, cost about as much as so many iterations of the other kind.
inline constexpr std::uint64_t iterations_of_a_launch = 4;
/// Blocks that a loop of several ones has at least.
inline constexpr unsigned least_loop_blocks = 4;
/// Indexes that one block builds one behind the other, before more blocks are quicker.
inline constexpr std::size_t indexes_of_one_block = 8;
/// Room for rows that a run of a loop's index has at least.
inline constexpr std::uint64_t least_loop_run_rows = 64;
/// Fewer rows go to the host all at once.
inline constexpr std::uint64_t least_streamed_rows = 1u << 16;

// Reading facts.
/// Rows, or bytes of a file, from which on it is likely that the device will have something to do, so that it is
/// started while they are read (`bench/placement`).
inline constexpr std::uint64_t rows_for_a_device = 50'000;
inline constexpr std::uint64_t bytes_for_a_device = 500'000;
/// Seconds that a device takes to start, where nothing is known (bench/results/h200-sides.txt).
inline constexpr double device_start_seconds = 0.3;
/// Of compressed files that will be read: bytes of text that wait, and threads that make it (`bench/loading`; for other
/// bytes see bench/results/loading.txt).
inline constexpr std::uint64_t bytes_ahead = std::uint64_t{64} << 20;
inline constexpr unsigned threads_ahead = 8;

// What is told from facts.
/// Rows of a relation that tell its sizes: what is told from them is off by some percent, and takes 50 us a time
/// (`bench/orders`, and the time of reoptimization in --stats).
inline constexpr std::uint64_t measured_rows = 1U << 13;
/// Pairs of rows with equal keys that two samples would have if one had all keys of the other, from which they tell
/// what share of them it has: chance makes it wrong by a sixth (1 / sqrt(32), computed; the number was not varied).
inline constexpr double least_sampled_matches = 32;
/// Rows of facts from which distinct values of columns are counted at the start, and slots of the table that counts
/// them: at least, at most, for each row (`bench/orders`).
inline constexpr std::uint64_t counted_fact_rows = 1u << 22;
inline constexpr std::uint64_t least_counting_slots = 64;
inline constexpr std::uint64_t most_counting_slots = 1u << 21;
inline constexpr std::uint64_t counting_slots_of_row = 4;
/// Of these rows, so many are worth a thread (`bench/closures/threads`: measure; others were not tried).
inline constexpr std::uint64_t counted_rows_of_thread = 1u << 17;
/// Values of two groups of columns that are compared with each other. No command measures it.
inline constexpr std::uint64_t compared_values = 1u << 16;

// Dense-domain encoding (`bench/paper/ablation reach`).
/// With fewer rows of facts, nothing but a hash set pays.
inline constexpr std::uint64_t least_encoded_rows = 1024;
/// A matrix over numbers has to be so many times smaller than one over the values.
inline constexpr std::uint64_t least_encoding_gain = 4;
/// Bytes of a matrix for each row of facts: no relation is expected to have more tuples than such a one is taken for.
inline constexpr std::uint64_t matrix_bytes_of_row = 65536;

// Texts that callers insert as columns (`bench/python` with texts): how many are given numbers together, as what is
// remembered of each new one is as large as the text; below how many another thread does not pay; and up to how many
// symbols their table is in a processor's cache.
inline constexpr std::uint64_t texts_interned_together = std::uint64_t{1} << 21;
inline constexpr std::uint64_t texts_of_a_thread = std::uint64_t{1} << 14;
inline constexpr std::uint64_t symbols_in_a_cache = std::uint64_t{1} << 15;

// Proofs of tuples: how many tuples are looked at for one of least height, then by linear forms of the rules, and then
// for any; instances of rules that are kept, of about 60 bytes each. The first two together should take less than half
// a second: time gpulog --why 'r(5,1700)' of r(x,z) :- r(x,y), r(y,z) over a graph of 3,200 nodes.
inline constexpr std::uint64_t proof_layer_looks = 1'000'000;
inline constexpr std::uint64_t proof_linear_looks = 3'000'000;
inline constexpr std::uint64_t proof_deep_looks = 50'000'000;
inline constexpr std::uint64_t proof_most_instances = 4'000'000;

}  // namespace gpulog::exec::calibration
