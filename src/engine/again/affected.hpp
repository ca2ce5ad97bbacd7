#pragma once

#include <functional>
#include <vector>

#include "sema/program.hpp"

/// Finds the relations of a program that depend on changed facts.
namespace gpulog::detail {

/// Calls visit(atom, is_monotone) for each atom of a body, including the bodies of aggregates. is_monotone: additional
/// tuples of the atom's relation never remove a tuple of the head.
void for_each_atom(const std::vector<sema::literal>& body,
                   const std::function<void(const sema::atom& read, bool is_monotone)>& visit);

/// Returns, by relation, the changed relations and every relation that a change may reach. A stratum is affected as a
/// whole.
[[nodiscard]] std::vector<bool> affected_by(const sema::program& analysed, const std::vector<bool>& changed);

[[nodiscard]] inline bool is_in(const std::vector<bool>& chosen, relation_id relation) {
  return chosen[relation.value];
}
/// Returns whether any relation is set.
[[nodiscard]] bool is_any(const std::vector<bool>& relations);
/// Returns the relations that are not among `others`.
[[nodiscard]] std::vector<bool> without(std::vector<bool> relations, const std::vector<bool>& others);

/// Returns the relations of both lists.
[[nodiscard]] std::vector<bool> united(std::vector<bool> relations, const std::vector<bool>& others);

/// Returns, by relation, the relations that a rule or a subsumption of an affected stratum reads.
[[nodiscard]] std::vector<bool> read_by(const sema::program& analysed, const std::vector<bool>& affected);

/// Returns the program restricted to the rules of affected relations, without facts. The unaffected relations are
/// inputs with their previous results.
[[nodiscard]] sema::program part_of(const sema::program& analysed, const std::vector<bool>& affected);

/// Returns whether the relation contains exactly its distinct given facts: no rule adds tuples.
[[nodiscard]] bool is_plain_input(const sema::relation& relation);

}  // namespace gpulog::detail
