#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "plan/plan.hpp"
#include "sema/program.hpp"
#include "support/tuning_modes.hpp"

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

struct options {
  /// Whether passes may create relations. `.pragma "supplementary" "off"` in a program also forbids this.
  bool makes_relations = true;
  tuning_modes modes;  ///< of optional_passes()
  row_mode rows = row_mode::automatic;
  bool has_device = false;  ///< a device may run strata
  /// By relation: whether the relation loses tuples between two continuations (stratum_executor::erase); empty: none.
  std::vector<bool> losing = {};
};

/// The pass that factors steps of recursive rules (plan/passes/relations/supplementary.hpp). It runs where strata are
/// planned.
inline constexpr std::string_view supplementary_pass = "supplementary";

/// A pass with an off switch.
struct optional_pass {
  std::string_view name, description;
  bool has_modes;  ///< the pass has the modes `auto` (apply if it pays) and `on` (apply wherever it is correct)
  bool is_on_request = false;  ///< the pass runs only in mode `always`
};
/// Returns all optional passes in the order in which they run.
[[nodiscard]] std::vector<optional_pass> optional_passes();

/// Plans every rule: semi-naive versions, join order, supplementary relations, indexes. The relations of `source` keep
/// their numbers; supplementary relations get the following numbers. Every analysed program can be planned.
[[nodiscard]] program make_plan(const sema::program& source, const statistics& known = {}, const options& chosen = {});

}  // namespace gpulog::plan
