#include "plan/rules/rule_text.hpp"

#include <fmt/format.h>

#include <vector>

#include "sema/print.hpp"
#include "sema/rewriting/expressions.hpp"

namespace gpulog::plan {
namespace {

std::string text_of(const normalized_rule& rule, const body_atom& atom, const sema::program& source,
                    const relation_namer& name_of) {
  std::vector<std::string> arguments;
  for (const term& argument : atom.arguments) {
    if (argument.is_variable()) {
      arguments.push_back(rule.variables[argument.value].name);
    } else if (argument.is_constant()) {
      arguments.push_back(sema::to_text(source, {}, sema::constant_of(argument.kind, argument.literal)));
    } else {
      arguments.emplace_back("_");
    }
  }
  return fmt::format("{}({})", name_of(atom.relation), fmt::join(arguments, ","));
}

}  // namespace

std::string text_of(const normalized_rule& rule, const sema::program& source, const relation_namer& name_of) {
  std::vector<std::string> parts;
  sema::rule names;
  names.variables = rule.variables;
  for (const body_atom& atom : rule.atoms) parts.push_back(text_of(rule, atom, source, name_of));
  for (const condition& test : rule.conditions) {
    parts.push_back(sema::to_text(source, names, sema::literal(sema::constraint{test.op, test.left, test.right, {}})));
  }
  for (const body_atom& atom : rule.negations) parts.push_back("!" + text_of(rule, atom, source, name_of));
  std::vector<std::string> head;
  for (const sema::expression& argument : rule.head_arguments) head.push_back(sema::to_text(source, names, argument));
  const std::string written = fmt::format("{}({})", name_of(rule.head), fmt::join(head, ","));
  return parts.empty() ? written + "." : fmt::format("{} :- {}.", written, fmt::join(parts, ", "));
}

}  // namespace gpulog::plan
