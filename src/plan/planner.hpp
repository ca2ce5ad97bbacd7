#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
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

/// Which relations that a recursion reads at few keys are restricted to them there (plan/passes/demand/magic_sets.hpp).
/// automatic: those where few keys are expected, until the run shows that there are more; always: all; watched: all,
/// until the run shows that they do not pay; for tests. Not without supplementary relations.
enum class magic_sets_mode : std::uint8_t { automatic, always, watched };

/// Which atoms of a recursion read less of their relations (plan/passes/relations/semi_join_reduction.hpp). automatic:
/// where few rows are expected to be left; always: wherever that is right.
enum class semi_join_mode : std::uint8_t { automatic, always };

/// Which relations are evaluated for what is asked for (plan/passes/demand/magic_transform.hpp). automatic: those that
/// are asked by constants, and those that the program names; always: all.
enum class magic_transform_mode : std::uint8_t { automatic, always };

/// Passes that are off until they are asked for: what no output depends on is planned, too.
inline const std::set<std::string, std::less<>> passes_off_by_default = {"unneeded-relations"};

struct options {
  supplementary_mode supplementary = supplementary_mode::automatic;
  magic_sets_mode magic_sets = magic_sets_mode::automatic;
  semi_join_mode semi_joins = semi_join_mode::automatic;
  bool has_device = false;  ///< one may run strata
  magic_transform_mode magic_transform = magic_transform_mode::automatic;
  /// Names of passes that are not run.
  std::set<std::string, std::less<>> off = passes_off_by_default;
};

/// The pass that factors steps of recursive rules (plan/passes/relations/supplementary.hpp). It runs where strata are
/// planned.
inline constexpr std::string_view supplementary_pass = "supplementary";

/// A pass that can be switched off.
struct optional_pass {
  std::string_view name, description;
  bool has_modes;  ///< it can act where that pays, or wherever that is right
};
/// All of them, in the order in which they run.
[[nodiscard]] std::vector<optional_pass> optional_passes();

/// Plans every rule: semi-naive versions, join order, supplementary relations, indexes. The relations of `source` keep
/// their numbers; supplementary ones come behind them. Any analysed program can be planned.
[[nodiscard]] program make_plan(const sema::program& source, const statistics& known = {}, const options& chosen = {});

}  // namespace gpulog::plan
