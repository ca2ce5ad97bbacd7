#pragma once

#include <cstdint>
#include <vector>

#include "plan/cost/join_order.hpp"
#include "plan/plan.hpp"
#include "plan/rules/normalized_rule.hpp"

/// A version on its way from an ordered body to operators: slots without limit, keys by column, no indexes yet.
namespace gpulog::plan {

struct operator_builder {
  operation op;
  /// Columns of the keys of a match or exists, ascending, parallel to its keys; empty: emptiness.
  std::vector<std::uint32_t> key_columns;
  double bindings = 1;  ///< estimate, behind it
  /// The same for the other searches of a match.
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
  std::vector<std::uint32_t> slot_variables;  ///< variable that a slot holds, or no_variable
  std::vector<sema::variable> variables;
  bool once = true;                            ///< evaluated once, not in a loop
  std::vector<std::uint32_t> atom_order = {};  ///< atoms_in_order() of its schedule
};

/// Operators of a version in the order of its schedule; each variable has a slot of its own, every column is bound.
[[nodiscard]] version_builder build_version(const normalized_rule& rule, const version_parts& parts,
                                            const schedule& order);

/// Drops what is never read; a read that binds nothing becomes an existence test; existence tests in front of the
/// first generator move behind it.
void simplify(version_builder& version, const std::vector<std::uint32_t>& arities);

/// A version that begins with a search for constants: instead, scan and compare.
void scan_instead_of_search(version_builder& version);

/// A version that begins with a search that binds nothing: one answer is enough.
void test_instead_of_search(version_builder& version);

/// Gives the slots their final numbers: slots of values that are dead before the next generator are used again (others
/// stay: a loop over rows reads them again for its next row). Moves everything into the version.
[[nodiscard]] rule_version finish(version_builder version);

}  // namespace gpulog::plan
