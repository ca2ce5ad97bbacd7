#pragma once

#include <cstddef>
#include <cstdint>

/// The planner's assumptions where nothing is measured, and the thresholds at which a method begins to pay. Costs count
/// bindings: the planner compares orders of one rule, where each binding takes the same time, and converts other work
/// to the number of bindings that take as long. Each group names the command that measures it, or says that no command
/// does.
namespace gpulog::plan::calibration {

// Sizes (`bench/orders`: the share of rules whose order is the best order, or nearly).
/// Rows of a loaded relation of unknown size.
inline constexpr double default_loaded_rows = 1e5;
/// Rows of a derived relation, relative to the largest relation that it is derived from.
inline constexpr double derived_growth = 10;
/// Share of a recursive relation that is new in an iteration.
inline constexpr double delta_share = 0.1;
/// A column with at most this many rows per value counts as a key.
inline constexpr double almost_key = 1.25;
/// In other columns, a search more often meets a frequent value: fan-out relative to the average.
inline constexpr double skew = 4;
/// Assumed share of bindings that pass a condition or an existence test.
inline constexpr double equality_selectivity = 0.1;
inline constexpr double filter_selectivity = 0.5;

// The search for an order (`bench/orders`).
/// A rule with more atoms tries only this many of the cheapest first atoms.
inline constexpr std::size_t starts_tried = 12;
/// Number of orders, and of first atoms, that the search follows at a time.
inline constexpr std::size_t orders_followed = 4;
inline constexpr std::size_t starts_followed = 3;
/// Literals that the search inspects for one order: enough for every pair in a body with 50 atoms. No command measures
/// this number.
inline constexpr std::size_t search_effort = 1 << 19;
/// An order is good enough if it costs less than this multiple of the rows of its first atom.
inline constexpr double cheap_order = 8;
/// If a stratum reads fewer rows of each relation, every order is fast (`bench/orders loops`).
inline constexpr std::uint64_t least_reordered_rows = 1000;

/// Where only the existence of a match matters, the cost is divided by the expected matches, but at most by this
/// number, because the share of passing rows is a guess. No command measures this number.
inline constexpr double most_matches_spared = 100;

/// Seconds of one processor (`bench/calibrate`): for a search or a row found by it, and for a row of a new index.
inline constexpr double host_binding_seconds = 8e-9;
inline constexpr double host_index_row_seconds = 24e-9;
/// Cost of a row of an index of all columns, relative to a row of another index: each row occupies a slot of the hash
/// table (bench/demand, samegen of a pair: 1.1 ms, otherwise 0.3 ms).
inline constexpr double all_columns_factor = 2;
/// During a recursion, the order of a version changes if it costs this multiple of another order, and if the difference
/// is this share of the cost of all versions of the stratum (`bench/orders loops`; with 1.25 the classification of
/// GALEN takes 1.36 times as long because costs are guesses).
inline constexpr double least_gain = 2;
inline constexpr double least_gained_share = 1.0 / 32;
/// A version is reordered only after a relation that it reads has grown by this factor since the last attempt. Each
/// attempt takes a new sample, which reads all rows (`bench/analyses`: reoptimization takes 1 % of a run).
inline constexpr double noticed_growth = 4;

// Supplementary relations (`bench/regret`).
/// Bindings in the time in which a row is stored: in the relation's set, and in the indexes that its readers search.
/// The classification of GALEN takes 440 ns a row, a binding 8 ns; with 16, SG keeps its supplementary relation.
inline constexpr double stored_row_bindings = 16;
/// Bindings that a supplementary relation may always cost more than it saves (about 17 ms).
inline constexpr double free_supplementary_bindings = 1 << 21;

// Magic sets (`bench/magic_sets`, bench/demand).
/// If more than this share of all combinations of the columns' values is demanded, the relation is computed in full.
inline constexpr double largest_demanded_share = 0.1;
/// If more than this share of a column's values is demanded, the column is not restricted.
inline constexpr double pointless_share = 0.8;
/// Minimum number of values of a column for a restriction, whose additional rules cost time in each iteration.
inline constexpr double least_demanded_values = 1000;
/// Assumed demanded share of a column's values if no values are known.
inline constexpr double guessed_share = 0.1;
/// A relation queried with more adornments is evaluated in full, because each adornment is a separate relation. No
/// command measures this number.
inline constexpr std::size_t most_goals = 4;

// Steps that several rules share (`bench/many_rules`).
/// Bodies with fewer atoms have no step that is worth a relation.
inline constexpr std::size_t factored_atoms = 3;
/// Suffixes of longer bodies are not compared, because each atom could match each atom of another rule. No command
/// measures this number.
inline constexpr std::size_t merged_atoms = 64;
/// Bodies with fewer atoms are not worth a relation shared by several heads.
inline constexpr std::size_t shared_atoms = 2;

/// Maximum total number of source columns listed for the columns of a stratum. If thousands of relations depend on each
/// other, the remaining columns have no list. No command measures this number.
inline constexpr std::size_t listed_sources = 1 << 20;

// Indexes. No command measures these values.
/// From this number of one-off searches for constants in the same columns, an index costs less than the scans.
inline constexpr std::size_t one_off_searches_for_an_index = 4;
/// With fewer rows per binding, a second search costs more than it saves.
inline constexpr double least_fan_out = 2;
/// Maximum number of additional searches of a match; each search runs for every binding.
inline constexpr std::size_t most_other_searches = 7;

}  // namespace gpulog::plan::calibration
