#pragma once

#include <functional>
#include <vector>

#include "sema/program.hpp"

/// What of a program depends on facts that have changed.
namespace gpulog::detail {

/// Calls visit(atom, is_monotone) for each atom of a body, those of aggregates too. is_monotone: more tuples of its
/// relation never take away a tuple of the head.
void for_each_atom(const std::vector<sema::literal>& body,
                   const std::function<void(const sema::atom& read, bool is_monotone)>& visit);

/// By relation: those that changed, and whatever their changes may reach. Relations of a stratum go together.
[[nodiscard]] std::vector<bool> affected_by(const sema::program& analysed, const std::vector<bool>& changed);

[[nodiscard]] inline bool is_in(const std::vector<bool>& chosen, relation_id relation) {
  return chosen[relation.value];
}
/// Whether there is one among the relations.
[[nodiscard]] bool is_any(const std::vector<bool>& relations);
/// Relations that are among the others as well are left out.
[[nodiscard]] std::vector<bool> without(std::vector<bool> relations, const std::vector<bool>& others);

/// By relation: those that a rule or a subsumption of an affected stratum reads.
[[nodiscard]] std::vector<bool> read_by(const sema::program& analysed, const std::vector<bool>& affected);

/// The program with the rules of affected relations alone, and without its facts: the others are inputs, which hold
/// their results.
[[nodiscard]] sema::program part_of(const sema::program& analysed, const std::vector<bool>& affected);

/// Whether nothing but facts is in the relation, just as they were given: each once, and no rule adds any.
[[nodiscard]] bool is_plain_input(const sema::relation& relation);

}  // namespace gpulog::detail
