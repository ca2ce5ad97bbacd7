#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "plan/rules/normalized_rule.hpp"
#include "plan/rules/rule_text.hpp"
#include "sema/program.hpp"

/// Steps of recursive rules that become separate relations.
///
/// Factoring. In `sg(x,y) :- edge(a,x), sg(a,b), edge(b,y)` the step `edge(a,x), sg(a,b)` loses `a`: the remaining rule
/// only depends on (x,b) and would be repeated for each a that leads to the same pair. Therefore `sg@1(x,b) :-
/// edge(a,x), sg(a,b)` becomes a relation with a set, and the rule reads it: `sg(x,y) :- sg@1(x,b), edge(b,y)`. Rules
/// with the same step share one relation.
///
/// Merging. If another rule of the same head ends like the remainder of a factored rule, its start becomes another rule
/// of the supplementary relation, and combinations produced by both starts are joined with the common end once: in CSPA
/// `ValueAlias(x,y) :- ValueFlow(w,x), ValueFlow(w,y)` becomes `ValueAlias@1(x,w) :- ValueFlow(w,x)`.
///
/// Evaluation. Supplementary relations advance within the iteration: the rules of level 0 run first and their relations
/// advance, then level 1, ..., then the program's own rules. A supplementary relation is read only by rules of higher
/// levels, thus only after its advance in the same iteration, and the program's relations advance at the end. Therefore
/// every rule version reads all relations in the state of the same iteration i: the tuples found from combinations up
/// to i-1 and, for supplementary relations, from rows up to i. This is the invariant of semi-naive evaluation (each
/// combination of rows is found in the iteration of its newest row, by the version whose delta atom is the last one
/// that reads such a row), so old and all parts need no exception. All rules of a supplementary relation read an atom
/// of the stratum and belong to the loop: the relation is empty before the first iteration, in which all rows are
/// delta.
namespace gpulog::plan {

struct factored_rule {
  normalized_rule rule;
  std::uint32_t level = 0;
};

struct factored_stratum {
  std::vector<factored_rule> rules;
  std::vector<relation_id> added;     ///< supplementary relations
  std::vector<std::uint32_t> levels;  ///< level of each added relation
  std::size_t patterns = 0;           ///< the first added relations: those of patterns, which factoring did not make
  /// Level of the program's rules: one more than the highest level of added relations.
  std::uint32_t own_level = 0;
  std::vector<std::string> remarks;
};

/// Adds a supplementary relation for a step of a rule of `head` with these columns; returns its number.
using relation_maker = std::function<relation_id(relation_id head, std::vector<std::string> attribute_names,
                                                 std::vector<value_kind> kinds)>;

/// Converts steps of a recursive stratum's rules to relations if this saves work.
/// @param patterns rules of existing supplementary relations, each of which reads only members and complete relations
/// @param makes_steps false: the patterns are all that is added
[[nodiscard]] factored_stratum factor(std::vector<normalized_rule> rules, const std::vector<relation_id>& members,
                                      const sema::program& source, const relation_maker& make_relation,
                                      const relation_namer& name_of, std::vector<normalized_rule> patterns = {},
                                      bool makes_steps = true);

}  // namespace gpulog::plan
