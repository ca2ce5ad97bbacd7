#pragma once

#include <cstdint>
#include <vector>

#include "plan/cost/join_order.hpp"
#include "plan/plan.hpp"
#include "plan/rules/normalized_rule.hpp"

/// A version between the ordered body and the final operators: unlimited slots, keys by column, no indexes yet.
namespace gpulog::plan {

struct operator_builder {
  operation op;
  /// Columns of the keys of a match or exists, ascending, parallel to the keys; empty: a test for emptiness.
  std::vector<std::uint32_t> key_columns;
  double bindings = 1;  ///< estimate, after the operator
  /// The key columns of a match's alternative searches.
  std::vector<std::vector<std::uint32_t>> other_key_columns = {};
};

inline constexpr std::uint32_t no_variable = UINT32_MAX;

struct version_builder {
  [[nodiscard]] slot_id new_slot(std::uint32_t variable, value_kind kind) {
    const slot_id slot(static_cast<std::uint32_t>(slot_variables.size()));
    slot_variables.push_back(variable);
    version.slot_kinds.push_back(kind);
    return slot;
  }

  rule_version version;  ///< without operations
  std::vector<operator_builder> operations;
  std::vector<std::uint32_t> slot_variables;  ///< variable in each slot, or no_variable
  std::vector<sema::variable> variables;
  bool once = true;                            ///< evaluated once, not in a loop
  std::vector<std::uint32_t> atom_order = {};  ///< atoms_in_order() of the schedule
};

/// Builds the operators of a version in the order of its schedule. Each variable has a separate slot, and every column
/// is bound.
[[nodiscard]] version_builder build_version(const normalized_rule& rule, const version_parts& parts,
                                            const schedule& order);

/// Removes values that no operator reads, turns reads without bindings into existence tests, and moves existence tests
/// from before the first generator to directly after the generator.
void simplify(version_builder& version, const std::vector<std::uint32_t>& arities);

/// Replaces the first search, for constants, with a scan and comparisons.
void scan_instead_of_search(version_builder& version);

/// Replaces the first search, which binds nothing, with an existence test.
void test_instead_of_search(version_builder& version);

/// Assigns the final slot numbers. A slot is reused if its value is dead before the next generator; a loop reads all
/// other slots again for each row. Moves all operators into the version.
[[nodiscard]] rule_version finish(version_builder version);

}  // namespace gpulog::plan
