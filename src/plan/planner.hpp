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

/// Knowledge about a relation before the evaluation; every member may be unknown.
struct relation_statistics {
  std::optional<std::uint64_t> rows;           ///< loaded rows; empty for relations that rules derive
  std::vector<std::uint64_t> distinct_values;  ///< by column, 0: unknown; may be empty
  bool is_loaded = false;                      ///< has rows that no rule derives
};

/// Estimates of the number of distinct values of some columns together, of how many of these values also occur in other
/// columns, and of the share of the rows that hold the shared values.
struct shared_values {
  double values = 0;
  double shared = 0;
  double share_of_rows = 0;
};

/// Indexed by relation_id; relations past the end are unknown. Unknown sizes are guessed.
struct statistics {
  std::vector<relation_statistics> relations;
  /// Compares the loaded rows; empty: no rows are available.
  std::function<shared_values(const std::vector<column_place>& columns, const std::vector<column_place>& others)>
      compare_values = {};
};

/// Whether the planner may materialize steps of rules as relations. `.pragma "supplementary" "off"` in a program also
/// disables this.
enum class supplementary_mode : std::uint8_t { automatic, off };

/// Which relations are restricted to the keys that a recursion reads (plan/passes/demand/magic_sets.hpp). automatic:
/// relations for which few keys are expected, until the run counts more keys; always: all; watched: all, until the run
/// shows that the restriction does not pay (for tests). Requires supplementary relations.
enum class magic_sets_mode : std::uint8_t { automatic, always, watched };

/// Which atoms of a recursion read reduced relations (plan/passes/relations/semi_join_reduction.hpp). automatic: atoms
/// for which few rows are expected to remain; always: every atom for which the reduction is correct.
enum class semi_join_mode : std::uint8_t { automatic, always };

/// Which relations are evaluated only for queried values (plan/passes/demand/magic_transform.hpp). automatic: relations
/// queried with constants, and relations that the program names; always: all.
enum class magic_transform_mode : std::uint8_t { automatic, always };

/// Passes that run only on request. By default the plan also contains relations that no output depends on.
inline const std::set<std::string, std::less<>> passes_off_by_default = {"unneeded-relations"};

struct options {
  supplementary_mode supplementary = supplementary_mode::automatic;
  magic_sets_mode magic_sets = magic_sets_mode::automatic;
  semi_join_mode semi_joins = semi_join_mode::automatic;
  bool has_device = false;  ///< a device may run strata
  magic_transform_mode magic_transform = magic_transform_mode::automatic;
  /// Names of disabled passes.
  std::set<std::string, std::less<>> off = passes_off_by_default;
};

/// The pass that factors steps of recursive rules (plan/passes/relations/supplementary.hpp). It runs where strata are
/// planned.
inline constexpr std::string_view supplementary_pass = "supplementary";

/// A pass with an off switch.
struct optional_pass {
  std::string_view name, description;
  bool has_modes;  ///< the pass has the modes `auto` (apply if it pays) and `on` (apply wherever it is correct)
};
/// Returns all optional passes in the order in which they run.
[[nodiscard]] std::vector<optional_pass> optional_passes();

/// Plans every rule: semi-naive versions, join order, supplementary relations, indexes. The relations of `source` keep
/// their numbers; supplementary relations get the following numbers. Every analysed program can be planned.
[[nodiscard]] program make_plan(const sema::program& source, const statistics& known = {}, const options& chosen = {});

}  // namespace gpulog::plan
