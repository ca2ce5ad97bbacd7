#pragma once

#include <cstddef>
#include <cstdint>

/// What the planner takes for granted where nothing is counted, and where a way of planning begins to pay. Its costs
/// count bindings: it compares orders of one rule, where each binding takes the same time, and what else an order needs
/// counts as the bindings that take as long. Each group says which command measures it. What no command measures says
/// so.
namespace gpulog::plan::calibration {

// Sizes (`bench/orders`: the share of rules whose order is the best one, or nearly).
/// Rows of a loaded relation whose size is not known.
inline constexpr double default_loaded_rows = 1e5;
/// Rows of a derived relation over those of the largest one that it is made of.
inline constexpr double derived_growth = 10;
/// Part of a recursive relation that is new in an iteration.
inline constexpr double delta_share = 0.1;
/// A column with so many rows a value at most is as good as a key.
inline constexpr double almost_key = 1.25;
/// Elsewhere, what is looked for is more often a value of many rows than of few: over the average.
inline constexpr double skew = 4;
/// Share of bindings that a condition or an existence test is taken to keep.
inline constexpr double equality_selectivity = 0.1;
inline constexpr double filter_selectivity = 0.5;

// The search for an order (`bench/orders`).
/// Rules with more atoms than this try only the cheapest beginnings.
inline constexpr std::size_t starts_tried = 12;
/// Orders that are followed at a time, and of how many beginnings.
inline constexpr std::size_t orders_followed = 4;
inline constexpr std::size_t starts_followed = 3;
/// Literals that the search looks at for one order: all of a body with 50 atoms, each next to each other one. No
/// command measures it.
inline constexpr std::size_t search_effort = 1 << 19;
/// An order that costs less than this often the rows of its first atom is good enough.
inline constexpr double cheap_order = 8;
/// Where a stratum reads fewer rows of each relation, no order takes long (`bench/orders loops`).
inline constexpr std::uint64_t least_reordered_rows = 1000;

/// Where it is only asked whether there is a match, as many matches as are expected are spared, but so many at most:
/// how many rows pass is a guess. No command measures it.
inline constexpr double most_matches_spared = 100;

/// Seconds of one processor (`bench/calibrate`): a search, or a row that it finds, and a row that a new index holds.
inline constexpr double host_binding_seconds = 8e-9;
inline constexpr double host_index_row_seconds = 24e-9;
/// A row of an index of all columns over one of another index: each row has a slot of the table to itself
/// (bench/demand, samegen of a pair: 1.1 ms beside 0.3).
inline constexpr double all_columns_factor = 2;
/// While a recursion runs, the order of a version changes where it costs this many times as much as another one, and
/// the difference is this part of what all its versions cost (`bench/orders loops`; with 1.25 the classification of
/// GALEN takes 1.36 times as long: costs are guesses).
inline constexpr double least_gain = 2;
inline constexpr double least_gained_share = 1.0 / 32;
/// Only where a relation that it reads has so many times as many rows as when its orders were last tried; a sample,
/// which looks at all rows, is taken again then (`bench/analyses`: reoptimization takes 1 % of a run).
inline constexpr double noticed_growth = 4;

// Magic sets (`bench/magic_sets`, bench/demand).
/// Of all combinations of the columns' values: where more are asked for, the relation is computed in full.
inline constexpr double largest_demanded_share = 0.1;
/// Of one column's values: where more are asked for, the column is not restricted.
inline constexpr double pointless_share = 0.8;
/// Values in a column from which it is worth while: a few more rules an iteration cost what they cost.
inline constexpr double least_demanded_values = 1000;
/// Of a column's values that are asked for, where nothing is known.
inline constexpr double guessed_share = 0.1;
/// A relation that is asked in more ways is evaluated in full: each way is a relation of its own. No command measures
/// it.
inline constexpr std::size_t most_goals = 4;

// Steps that several rules share (`bench/many_rules`).
/// Bodies shorter than this have no step that is worth a relation.
inline constexpr std::size_t factored_atoms = 3;
/// Ends of longer bodies are not compared: each atom could be each of another rule. No command measures it.
inline constexpr std::size_t merged_atoms = 64;
/// Bodies shorter than this are not worth a relation for several heads.
inline constexpr std::size_t shared_atoms = 2;

/// Columns that values of a stratum's relations come from, listed for each of their columns: where thousands of
/// relations depend on each other, the others have none. No command measures it.
inline constexpr std::size_t listed_sources = 1 << 20;

// Indexes. No command measures them.
/// From this many one-off searches for constants in the same columns, an index costs less than the scans.
inline constexpr std::size_t one_off_searches_for_an_index = 4;
/// Below this many rows for each binding a second search costs more than it saves.
inline constexpr double least_fan_out = 2;
/// Searches beside a match's own one; each is made for every binding.
inline constexpr std::size_t most_other_searches = 7;

}  // namespace gpulog::plan::calibration
