#include "sema/checks/lint.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "sema/rewriting/syntax_walk.hpp"
#include "syntax/printer.hpp"

namespace gpulog::sema {
namespace {

/// A warning about a place. Components repeat a place for each instance.
struct finding {
  std::string message;
  source_span other;  ///< a place that a note names; invalid: none
  std::string note;
};

/// The findings of one kind, in the order of the places.
class findings {
 public:
  /// @param found nothing: the item at this place is as intended
  void judge(const source_span& span, std::optional<finding> found) {
    const auto [place, is_new] = numbers_.emplace(std::tuple(span.file, span.begin, span.end), places_.size());
    if (is_new) {
      places_.emplace_back(span, std::move(found));
    } else if (!found) {
      places_[place->second].second.reset();
    }
  }

  void report(warning_kind kind, diagnostics& diagnostics) const {
    for (const auto& [span, found] : places_) {
      if (!found) continue;
      auto* const warning = diagnostics.warning(span, found->message, kind);
      if (warning != nullptr && found->other.valid()) warning->note(found->other, found->note);
    }
  }

 private:
  std::map<std::tuple<const source_file*, std::uint32_t, std::uint32_t>, std::size_t> numbers_;
  std::vector<std::pair<source_span, std::optional<finding>>> places_;
};

/// A clause, or a subsumptive rule as a clause.
struct linted_rule {
  std::vector<const syntax::atom*> heads;
  const std::vector<syntax::conjunction>* body;
  source_span span;
  const syntax::clause* clause;  ///< null for a subsumptive rule
};

std::vector<linted_rule> rules_of(const std::vector<syntax::item>& items) {
  std::vector<linted_rule> rules;
  for (const syntax::item& item : items) {
    if (const auto* clause = item.as<syntax::clause>()) {
      linted_rule& rule = rules.emplace_back(linted_rule{{}, &clause->body, clause->span, clause});
      for (const syntax::atom& head : clause->heads) rule.heads.push_back(&head);
    }
    if (const auto* one = item.as<syntax::subsumption>())
      rules.push_back({{&one->dominated, &one->dominating}, &one->body, one->span, nullptr});
  }
  return rules;
}

// ---- relations that nothing reads -----------------------------------------------------------------------------------

void find_unread_relations(const std::vector<syntax::item>& items, const std::vector<linted_rule>& rules,
                           const program& program, const std::unordered_set<std::string>& suppressed, findings& found) {
  std::unordered_set<std::string> read;
  for (const linted_rule& rule : rules) {
    for_each_atom(*rule.body, [&](const syntax::atom& atom) {
      const bool is_own = std::all_of(rule.heads.begin(), rule.heads.end(),
                                      [&](const syntax::atom* head) { return head->name.text == atom.name.text; });
      if (!is_own) read.insert(atom.name.text);
    });
  }
  for (const syntax::item& item : items) {
    const auto* declared = item.as<syntax::relation_declaration>();
    if (declared != nullptr && declared->debug_delta_of) read.insert(declared->debug_delta_of->text);
  }
  const auto is_written = [](const relation& one) {
    return one.has_directive(directive_kind::output) || one.has_directive(directive_kind::printsize);
  };
  // Without any output, the relations are for other programs.
  if (std::none_of(program.relations.begin(), program.relations.end(), is_written)) return;
  for (const relation& one : program.relations) {
    const bool is_used = one.is_query || is_written(one) || read.contains(one.name);
    if (is_used || suppressed.contains("*") || suppressed.contains(one.name)) {
      found.judge(one.span, std::nullopt);
    } else {
      found.judge(one.span,
                  finding{"Relation " + one.name + " is neither read by another relation nor written", {}, {}});
    }
  }
}

// ---- rules that can never fire --------------------------------------------------------------------------------------

/// The relations that may have tuples.
using filled_relations = std::unordered_set<std::string>;

const syntax::atom* first_empty_atom(const std::vector<syntax::conjunction>& alternatives,
                                     const filled_relations& filled);

/// Returns an atom without tuples that keeps the literal from holding, or null.
const syntax::atom* first_empty_atom(const syntax::literal& part, const filled_relations& filled) {
  if (const auto* atom = part.as<syntax::atom>()) return filled.contains(atom->name.text) ? nullptr : atom;
  if (const auto* group = part.as<syntax::group>()) return first_empty_atom(group->alternatives, filled);
  return nullptr;
}

/// Returns null if one of the alternatives may hold.
const syntax::atom* first_empty_atom(const std::vector<syntax::conjunction>& alternatives,
                                     const filled_relations& filled) {
  const syntax::atom* first = nullptr;
  for (const syntax::conjunction& conjunction : alternatives) {
    const syntax::atom* empty = nullptr;
    for (const syntax::literal& part : conjunction) {
      if (empty == nullptr) empty = first_empty_atom(part, filled);
    }
    if (empty == nullptr) return nullptr;
    if (first == nullptr) first = empty;
  }
  return first;
}

void find_rules_that_never_fire(const std::vector<syntax::item>& items, const std::vector<linted_rule>& rules,
                                const program& program, const std::set<std::string>& filled_by_caller,
                                findings& found) {
  filled_relations filled(filled_by_caller.begin(), filled_by_caller.end());
  for (const relation& one : program.relations) {
    if (one.has_directive(directive_kind::input)) filled.insert(one.name);
  }
  for (const syntax::item& item : items) {
    const auto* declared = item.as<syntax::relation_declaration>();
    if (declared == nullptr || !declared->debug_delta_of) continue;
    for (const syntax::identifier& name : declared->names) filled.insert(name.text);
  }
  std::size_t before = 0;
  do {
    before = filled.size();
    for (const linted_rule& rule : rules) {
      if (first_empty_atom(*rule.body, filled) != nullptr) continue;
      for (const syntax::atom* head : rule.heads) filled.insert(head->name.text);
    }
  } while (filled.size() > before);
  for (const linted_rule& rule : rules) {
    const syntax::atom* const empty = first_empty_atom(*rule.body, filled);
    if (empty == nullptr) {
      found.judge(rule.span, std::nullopt);
    } else {
      found.judge(rule.span,
                  finding{"The rule can never fire: relation " + empty->name.text + " never has a tuple", {}, {}});
    }
  }
}

// ---- cross products -------------------------------------------------------------------------------------------------

/// Returns the names of the literal's variables. A name that begins with an underscore occurs once.
std::vector<std::string> variables_of(const syntax::literal& part) {
  std::vector<std::string> names;
  for_each_variable(part, [&](const syntax::variable& variable, const syntax::argument&) {
    if (!variable.name.starts_with('_')) names.push_back(variable.name);
  });
  return names;
}

/// Groups literals by common variables and returns the first atom of each group with an atom.
std::vector<const syntax::atom*> unconnected_atoms(const syntax::conjunction& conjunction) {
  std::vector<std::size_t> group(conjunction.size());
  std::iota(group.begin(), group.end(), std::size_t{0});
  std::unordered_map<std::string, std::size_t> group_of_variable;
  std::vector<bool> has_variables(conjunction.size(), false);
  for (std::size_t number = 0; number < conjunction.size(); ++number) {
    for (const std::string& name : variables_of(conjunction[number])) {
      has_variables[number] = true;
      const auto [place, is_new] = group_of_variable.emplace(name, number);
      if (!is_new)
        std::replace(group.begin(), group.end(), std::size_t{group[number]}, std::size_t{group[place->second]});
    }
  }
  std::set<std::size_t> groups;
  std::vector<const syntax::atom*> first_atoms;
  for (std::size_t number = 0; number < conjunction.size(); ++number) {
    const auto* atom = conjunction[number].as<syntax::atom>();
    if (atom != nullptr && has_variables[number] && groups.insert(group[number]).second) first_atoms.push_back(atom);
  }
  return first_atoms;
}

void find_cross_products(const std::vector<syntax::conjunction>& alternatives, findings& found) {
  for (const syntax::conjunction& conjunction : alternatives) {
    const std::vector<const syntax::atom*> atoms = unconnected_atoms(conjunction);
    for (std::size_t number = 1; number < atoms.size(); ++number) {
      found.judge(atoms[number]->span, finding{"The body is a cross product: " + syntax::print(*atoms[number]) +
                                                   " has no variable in common with " + syntax::print(*atoms.front()),
                                               {},
                                               {}});
    }
    for (const syntax::literal& part : conjunction) {
      if (const auto* group = part.as<syntax::group>()) find_cross_products(group->alternatives, found);
    }
  }
}

// ---- rules that occur twice -----------------------------------------------------------------------------------------

/// Returns a text that is equal for rules that differ in the names of variables only.
std::string text_without_names(const syntax::clause& written) {
  syntax::clause clause = written;
  clause.plan.clear();
  std::unordered_map<std::string, std::string> names;
  const auto rename = [&](auto& node) {
    walk_terms(node, [&](syntax::argument& term) {
      auto* variable = term.as<syntax::variable>();
      if (variable != nullptr)
        variable->name = names.emplace(variable->name, "v" + std::to_string(names.size())).first->second;
      return true;
    });
  };
  for (syntax::atom& head : clause.heads) rename(head);
  rename(clause.body);
  return syntax::print(clause);
}

void find_repeated_rules(const std::vector<linted_rule>& rules, findings& found) {
  std::unordered_map<std::string, source_span> first;
  for (const linted_rule& rule : rules) {
    if (rule.clause == nullptr || rule.body->empty()) continue;
    const auto [place, is_new] = first.emplace(text_without_names(*rule.clause), rule.span);
    if (is_new || place->second == rule.span) continue;
    found.judge(rule.span, finding{"The rule occurs twice", place->second, "The same rule"});
  }
}

}  // namespace

void warn_of_suspicious_items(const std::vector<syntax::item>& items, const program& program,
                              const std::set<std::string>& filled, const std::unordered_set<std::string>& suppressed,
                              diagnostics& diagnostics) {
  const std::vector<linted_rule> rules = rules_of(items);
  findings unread, unreachable, products, repeated;
  find_unread_relations(items, rules, program, suppressed, unread);
  find_rules_that_never_fire(items, rules, program, filled, unreachable);
  for (const linted_rule& rule : rules) find_cross_products(*rule.body, products);
  find_repeated_rules(rules, repeated);
  unread.report(warning_kind::unread_relation, diagnostics);
  unreachable.report(warning_kind::never_fires, diagnostics);
  products.report(warning_kind::cross_product, diagnostics);
  repeated.report(warning_kind::repeated_rule, diagnostics);
}

}  // namespace gpulog::sema
