#include "sema/checks/variable_hints.hpp"

#include "sema/rewriting/syntax_walk.hpp"

namespace gpulog::sema {

namespace {

/// Whether a fact is on the last line of the rule, or further right than the rule.
bool may_continue(const syntax::clause& rule, const source_span& fact) {
  const source_span& span = rule.span;
  if (rule.body.empty() || span.file != fact.file) return false;
  const source_file& file = *span.file;
  return file.physical_line(span.end) == file.physical_line(fact.begin) ||
         file.position(span.begin).column < file.position(fact.begin).column;
}

bool uses_variable(const syntax::clause& rule, const std::string& name) {
  bool is_used = false;
  for_each_variable(rule.body, [&](const syntax::variable& variable, const syntax::argument&) {
    is_used = is_used || variable.name == name;
  });
  return is_used;
}

}  // namespace

std::string hint_about_branch(const std::string& name, const declarations& declared) {
  const auto* branch = declared.find_branch(name);
  if (branch == nullptr) return {};
  return name + " is a branch of type " + declared.types()[branch->type].name + ": write $" + name;
}

std::string hint_about_value(const flat_conjunction& body, const syntax::variable& variable, const std::string& name) {
  std::string hint;
  for (const flat_literal& flat : body) {
    bool is_in = false;
    for_each_own_variable(*flat.literal, [&](const syntax::variable& one, const syntax::argument&) {
      is_in = is_in || one.name == variable.name;
    });
    if (!is_in) continue;
    const auto* const constraint = flat.literal->as<syntax::constraint>();
    const bool is_equality = constraint != nullptr && (flat.negated ? syntax::negated(constraint->op)
                                                                    : constraint->op) == syntax::constraint_op::equal;
    if (is_equality)
      return "An equality binds " + name + " only if one side is " + name + " alone and the other side is bound";
    if (flat.literal->as<syntax::atom>() == nullptr) {
      hint = "A comparison does not bind " + name + "; an atom does, or an equality with a bound value";
    } else if (flat.negated) {
      return "A negated atom does not bind " + name + "; an atom without ! does";
    } else {
      return "An expression in an atom does not bind " + name + "; " + name + " alone as an argument does";
    }
  }
  return hint;
}

void add_hint_about_fact(const std::string& variable, const syntax::atom& fact, const syntax::clause* before,
                         const declarations& declared, diagnostics::entry& error) {
  if (std::string hint = hint_about_branch(variable, declared); !hint.empty()) {
    error.note(std::move(hint));
  } else if (before != nullptr && may_continue(*before, fact.span) && uses_variable(*before, variable)) {
    const source_span& rule = before->span;
    error.note({rule.file, rule.end - 1, rule.end}, "This dot ends the rule; a comma joins literals");
  } else {
    error.note("A symbol is written in double quotes: \"" + variable + "\"");
  }
}

}  // namespace gpulog::sema
