#include <string>
#include <unordered_map>
#include <vector>

#include "sema/aggregates/aggregate_scopes.hpp"
#include "sema/checks/clause_checks.hpp"
#include "sema/print.hpp"
#include "sema/rewriting/syntax_walk.hpp"

/// Warnings for variables that occur once, which are often typing errors.
namespace gpulog::sema {

namespace {

/// The possible numbers of occurrences of a name in the rules made from a clause, one per choice of alternatives.
struct occurrences {
  bool absent = false, once = false, more = false;
  source_span first;
  source_span single;  ///< the only occurrence, in some rule
};

/// The names in a part of a clause.
using counted_names = std::unordered_map<std::string, occurrences>;

/// Adds the names of a later part that belongs to the same rules.
void add_both(counted_names& counted, counted_names added) {
  for (auto& [name, behind] : added) {
    const auto [found, is_new] = counted.try_emplace(name, behind);
    if (is_new) continue;
    occurrences& all = found->second;
    all.more = all.more || behind.more || (all.once && behind.once);
    if (!(all.once && behind.absent)) all.single = behind.single;
    all.once = (all.once && behind.absent) || (all.absent && behind.once);
    all.absent = all.absent && behind.absent;
  }
}

/// Counts the names in a node without alternatives.
template <class Node>
counted_names names_of(const Node& node) {
  counted_names counted;
  for_each_variable(node, [&](const syntax::variable& variable, const syntax::argument& term) {
    add_both(counted, {{variable.name, {.once = true, .first = term.span, .single = term.span}}});
  });
  return counted;
}

counted_names count_names(const std::vector<syntax::conjunction>& alternatives, bool negated);
counted_names count_names(const syntax::conjunction& conjunction, bool negated);

counted_names count_names(const syntax::literal& literal, bool negated) {
  if (const auto* negation = literal.as<syntax::negation>()) return count_names(*negation->inner, !negated);
  if (const auto* group = literal.as<syntax::group>()) return count_names(group->alternatives, negated);
  return names_of(literal);
}

/// Counts the names in parts that all belong to the rule.
template <class Part>
counted_names count_all(const std::vector<Part>& parts, bool negated) {
  counted_names counted;
  for (const Part& part : parts) add_both(counted, count_names(part, negated));
  return counted;
}

/// Counts the names in parts of which the rule contains exactly one.
template <class Part>
counted_names count_one_of(const std::vector<Part>& parts, bool negated) {
  if (parts.size() == 1) return count_names(parts.front(), negated);
  counted_names counted;
  std::unordered_map<std::string, std::size_t> parts_with;
  for (const Part& part : parts) {
    for (auto& [name, inside] : count_names(part, negated)) {
      ++parts_with[name];
      const auto [found, is_new] = counted.try_emplace(name, inside);
      if (is_new) continue;
      occurrences& all = found->second;
      if (!all.once) all.single = inside.single;
      all.absent = all.absent || inside.absent;
      all.once = all.once || inside.once;
      all.more = all.more || inside.more;
    }
  }
  for (auto& [name, all] : counted) all.absent = all.absent || parts_with.at(name) < parts.size();
  return counted;
}

counted_names count_names(const syntax::conjunction& conjunction, bool negated) {
  return negated ? count_one_of(conjunction, true) : count_all(conjunction, false);
}

counted_names count_names(const std::vector<syntax::conjunction>& alternatives, bool negated) {
  return negated ? count_all(alternatives, true) : count_one_of(alternatives, false);
}

}  // namespace

void warn_of_singletons(const syntax::clause& written, diagnostics& diagnostics) {
  if (written.body.empty()) return;
  const auto renamed = rename_local_variables(written);
  const syntax::clause& clause = renamed ? *renamed : written;
  counted_names counted;
  for (const syntax::atom& head : clause.heads) add_both(counted, names_of(head));
  add_both(counted, count_names(clause.body, false));
  for (const auto& [name, found] : counted) {
    const bool marked = name.starts_with('_');
    if (found.once && !marked) {
      diagnostics.warning(found.single, "Variable " + without_made_names(name) + " only occurs once",
                          warning_kind::variable_appears_once);
    } else if (found.more && marked) {
      diagnostics.warning(found.first,
                          "Variable " + without_made_names(name) + " marked as singleton but occurs more than once",
                          warning_kind::variable_appears_once);
    }
  }
}

}  // namespace gpulog::sema
