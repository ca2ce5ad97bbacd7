#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "plan/plan.hpp"
#include "sema/program.hpp"

namespace gpulog::plan {

/// What is known of a relation before evaluation; everything may be unknown.
struct relation_statistics {
  std::optional<std::uint64_t> rows;           ///< loaded rows; leave empty for relations that rules derive
  std::vector<std::uint64_t> distinct_values;  ///< by column, 0: unknown; may be empty
  bool is_loaded = false;                      ///< has rows that no rule derives
};

/// How many different values some columns have together, how many of these other columns have too, and in which share
/// of the rows they are; estimates.
struct shared_values {
  double values = 0;
  double shared = 0;
  double share_of_rows = 0;
};

/// By relation_id; relations behind the end are unknown. Unknown sizes are guessed.
struct statistics {
  std::vector<relation_statistics> relations;
  /// Compares the rows that are loaded; empty: nothing is known.
  std::function<shared_values(const std::vector<column_place>& columns, const std::vector<column_place>& others)>
      compare_values = {};
};

/// Whether the planner may make steps of rules relations of their own. `.pragma "supplementary" "off"` in a program
/// switches it off too.
enum class supplementary_mode : std::uint8_t { automatic, off };

/// Whether a search may be left to the smallest of several relations (plan/intersections.hpp).
enum class intersection_mode : std::uint8_t { automatic, off };

/// Whether relations whose rows cannot repeat have no tuple set (plan/distinct_rows.hpp).
enum class deduplication_mode : std::uint8_t { where_needed, always };

/// Whether relations that a recursion reads at few keys are restricted to them there (plan/demand.hpp). automatic:
/// where few are expected to be asked for, until it shows that they are not; always: wherever that is right, whatever
/// it brings; watched: the same, until it shows; for tests. Not without supplementary relations.
enum class demand_mode : std::uint8_t { automatic, always, watched, off };

/// Whether rules are rewritten so that a fixpoint falls apart (plan/pivot_steps.hpp).
enum class pivot_step_mode : std::uint8_t { automatic, off };

/// Whether relations that no output depends on are planned (sema/needed_relations.hpp).
enum class unneeded_mode : std::uint8_t { planned, left_out };

struct options {
  supplementary_mode supplementary = supplementary_mode::automatic;
  intersection_mode intersections = intersection_mode::automatic;
  deduplication_mode deduplication = deduplication_mode::where_needed;
  demand_mode demand = demand_mode::automatic;
  pivot_step_mode pivot_steps = pivot_step_mode::automatic;
  unneeded_mode unneeded = unneeded_mode::planned;
  /// Atoms that only say that a row exists are counted (plan/existence.hpp); for a CPU, a device has no order of rows.
  bool count_existence = false;
};

/// Plans every rule: semi-naive versions, join order, supplementary relations, indexes. The relations of `source` keep
/// their numbers; supplementary ones come behind them. Any analysed program can be planned.
[[nodiscard]] program make_plan(const sema::program& source, const statistics& known = {}, const options& chosen = {});

}  // namespace gpulog::plan
