#include "sema/rewriting/assignments.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

namespace gpulog::sema {
namespace {

/// The expressions that define variables introduced by desugaring.
using definitions = std::map<std::uint32_t, const expression*>;

definitions definitions_of(const std::vector<literal>& body, const std::vector<variable>& variables) {
  definitions result;
  for (const literal& part : body) {
    const auto* test = std::get_if<constraint>(&part);
    if (test == nullptr || !test->is_equality() || !test->left.is_variable()) continue;
    if (variables[test->left.variable].name.starts_with('@')) result.emplace(test->left.variable, &test->right);
  }
  return result;
}

/// Calls found() for each variable or unnamed place of the term in the source, even after a match.
/// @return whether any call returned true
template <class Predicate>
bool any_name(const expression& tree, const definitions& defined_by, Predicate& found) {
  if (tree.is_variable()) {
    const auto defined = defined_by.find(tree.variable);
    if (defined != defined_by.end()) return any_name(*defined->second, defined_by, found);
  }
  bool any = (tree.is_variable() || tree.is_unnamed()) && found(tree);
  for (const expression& argument : tree.arguments) any |= any_name(argument, defined_by, found);
  return any;
}

}  // namespace

bool counts_assignments(const aggregate& folded, const std::vector<variable>& variables) {
  std::size_t atoms = 0;
  bool is_special = folded.held_aggregate;
  std::set<std::uint32_t> seen;
  auto names_again = [&seen](const expression& name) {
    return name.is_variable() && !seen.insert(name.variable).second;
  };
  const definitions defined_by = definitions_of(folded.body, variables);
  for (const literal& part : folded.body) {
    const auto* nested = std::get_if<aggregate>(&part);
    is_special |= (nested != nullptr && !nested->compares_records) || std::holds_alternative<generator>(part);
    const auto* read = std::get_if<atom>(&part);
    if (read == nullptr || read->negated) continue;
    ++atoms;
    for (const expression& argument : read->arguments) is_special |= any_name(argument, defined_by, names_again);
  }
  return atoms > 0 && (atoms > 1 || is_special);
}

bool leaves_unnamed(const atom& read, const std::vector<literal>& body, const std::vector<variable>& variables) {
  const definitions defined_by = definitions_of(body, variables);
  auto is_unnamed = [](const expression& name) { return name.is_unnamed(); };
  return std::any_of(read.arguments.begin(), read.arguments.end(),
                     [&](const expression& argument) { return any_name(argument, defined_by, is_unnamed); });
}

}  // namespace gpulog::sema
