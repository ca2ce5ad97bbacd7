#include "sema/components/inline_checks.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "sema/rewriting/syntax_walk.hpp"

namespace gpulog::sema {

namespace {

bool is_counter(const syntax::argument& term) { return term.as<syntax::counter>() != nullptr; }

/// Returns whether the body has variables that the head does not contain.
bool brings_variables(const syntax::atom& head, const syntax::clause& clause) {
  std::set<std::string> own;
  for_each_variable(head,
                    [&](const syntax::variable& variable, const syntax::argument&) { own.insert(variable.name); });
  bool others = false;
  for_each_variable(clause.body, [&](const syntax::variable& variable, const syntax::argument&) {
    others = others || !own.contains(variable.name);
  });
  return others;
}

class inline_checker {
 public:
  inline_checker(const declarations& declared, diagnostics& diagnostics)
      : declared_(declared), diagnostics_(diagnostics) {}

  void run(const std::vector<syntax::item>& items) {
    for (const syntax::item& item : items) {
      if (const auto* clause = item.as<syntax::clause>()) check_definition(*clause);
    }
    for (const syntax::item& item : items) {
      if (const auto* clause = item.as<syntax::clause>()) {
        for (const syntax::atom& head : clause->heads) check_terms(head);
        check(clause->body, false);
      }
      if (const auto* subsumption = item.as<syntax::subsumption>()) check(subsumption->body, false);
    }
  }

 private:
  [[nodiscard]] bool is_inline(const syntax::atom& atom) const {
    const auto id = declared_.find_relation(atom.name.text);
    return id && declared_.is_inline(*id);
  }

  void check_definition(const syntax::clause& clause) {
    bool defines = false;
    for (const syntax::atom& head : clause.heads) {
      if (!is_inline(head)) continue;
      defines = true;
      if (brings_variables(head, clause)) not_negatable_.insert(head.name.text);
    }
    if (!defines) return;
    const auto check_counter = [&](const syntax::argument& term) {
      if (is_counter(term))
        diagnostics_.error(term.span, "Cannot inline clause containing a counter argument 'autoinc()'");
      return true;
    };
    for (const syntax::atom& head : clause.heads) walk_terms(head, check_counter);
    walk_terms(clause.body, check_counter);
  }

  void check(const std::vector<syntax::conjunction>& alternatives, bool negated) {
    for (const syntax::conjunction& conjunction : alternatives) {
      for (const syntax::literal& part : conjunction) check(part, negated);
    }
  }

  void check(const syntax::literal& part, bool negated) {
    if (const auto* negation = part.as<syntax::negation>()) check(*negation->inner, !negated);
    if (const auto* group = part.as<syntax::group>()) check(group->alternatives, negated);
    if (const auto* constraint = part.as<syntax::constraint>()) {
      check_terms(constraint->left);
      check_terms(constraint->right);
    }
    const auto* atom = part.as<syntax::atom>();
    if (atom == nullptr) return;
    check_terms(*atom);
    if (!is_inline(*atom)) return;
    if (negated && not_negatable_.contains(atom->name.text)) {
      diagnostics_.error(part.span, "Cannot inline negated relation which may introduce new variables");
    }
    walk_terms(*atom, [&](const syntax::argument& term) {
      if (is_counter(term)) {
        diagnostics_.error(term.span, "Cannot inline literal containing a counter argument 'autoinc()'");
      }
      if (negated && term.as<syntax::unnamed_variable>() != nullptr) {
        diagnostics_.error(term.span,
                           "Cannot inline negated atom containing an unnamed variable unless the variable is within an "
                           "aggregator");
      }
      return term.as<syntax::aggregate>() == nullptr;
    });
  }

  /// Checks the aggregates in an atom or argument.
  template <class Node>
  void check_terms(const Node& node) {
    for_each_aggregate(node, [&](const syntax::aggregate& aggregate, const syntax::argument&) {
      for_each_atom(aggregate.body, [&](const syntax::atom& atom) {
        if (is_inline(atom)) diagnostics_.error(atom.span, "Cannot inline relations that appear in aggregator");
      });
    });
  }

  const declarations& declared_;
  diagnostics& diagnostics_;
  std::set<std::string> not_negatable_;
};

}  // namespace

void check_inlining(const std::vector<syntax::item>& items, const declarations& declared, diagnostics& diagnostics) {
  const std::vector<std::string>& names = declared.relation_names();
  const bool any = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return declared.is_inline(*declared.find_relation(name));
  });
  if (any) inline_checker(declared, diagnostics).run(items);
}

}  // namespace gpulog::sema
