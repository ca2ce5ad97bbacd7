#include "lsp/features/descriptions.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <variant>

#include "lsp/features/atom_search.hpp"
#include "sema/rewriting/syntax_walk.hpp"
#include "sema/types/functors.hpp"
#include "support/value_table.hpp"

namespace gpulog::lsp {

namespace {

std::string_view name_of_kind(value_kind kind) {
  static constexpr entry<value_kind, std::string_view> table[] = {{value_kind::number, "number"},
                                                                  {value_kind::unsigned_number, "unsigned"},
                                                                  {value_kind::floating, "float"},
                                                                  {value_kind::symbol, "symbol"}};
  return find_in(table, kind).value_or("any");
}

call_signature joined(const std::string& name, std::vector<std::string> parameters, const std::string& result) {
  std::string label = name + "(";
  for (std::size_t at = 0; at < parameters.size(); ++at) label += (at == 0 ? "" : ", ") + parameters[at];
  label += ")";
  if (!result.empty()) label += ":" + result;
  return {std::move(label), std::move(parameters)};
}

/// Returns the signature with the types of all overloads: `to_string(number|symbol):symbol`.
call_signature built_in(const std::string& name, const sema::functor_signature& functor) {
  const auto kinds = [&](auto kind_of) {
    std::string text;
    for (const sema::functor_overload& each : functor.overloads) {
      const std::string kind(kind_of(each));
      if (("|" + text + "|").find("|" + kind + "|") == std::string::npos) text += (text.empty() ? "" : "|") + kind;
    }
    return text;
  };
  std::vector<std::string> parameters;
  const bool is_open = functor.most_arguments == SIZE_MAX;
  for (std::size_t at = 0; at < (is_open ? functor.least_arguments : functor.most_arguments); ++at) {
    parameters.push_back(kinds([at](const sema::functor_overload& each) {
      const auto kind = each.parameter(at);
      return kind ? name_of_kind(*kind) : "any";
    }));
  }
  if (is_open) parameters.emplace_back("...");
  return joined(name, std::move(parameters),
                kinds([](const sema::functor_overload& each) { return name_of_kind(each.result); }));
}

bool is_blank_text(std::string_view text) { return text.find_first_not_of(" \t\r") == std::string_view::npos; }

std::string_view trimmed_line(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

/// Returns the line before offset `end`, which is the start of a line.
std::string_view line_before(std::string_view text, std::size_t end) {
  const std::size_t begin = end < 2 ? 0 : text.rfind('\n', end - 2) + 1;  // npos + 1 is 0
  return text.substr(begin, end - 1 - begin);
}

/// Returns the text of a line of `//`, `///` or of a block comment.
std::string comment_line(std::string_view line) {
  line = trimmed_line(line);
  for (const std::string_view mark : {"///", "//", "/**", "/*"}) {
    if (!line.starts_with(mark)) continue;
    line.remove_prefix(mark.size());
    break;
  }
  if (line.ends_with("*/")) line.remove_suffix(2);
  if (line.starts_with("* ") || line == "*") line.remove_prefix(1);
  return std::string(trimmed_line(line));
}

/// Finds the type of a variable in atoms, records and calls.
class type_finder {
 public:
  type_finder(const compiled_program& program, const std::string& variable) : program_(program), variable_(variable) {}

  void visit(const syntax::clause& clause) {
    sema::for_each_atom(clause.body, [&](const syntax::atom& atom) { visit(atom); });
    for (const syntax::atom& head : clause.heads) visit(head);
  }

  void visit(const syntax::literal& part) {
    sema::for_each_atom(part, [&](const syntax::atom& atom) { visit(atom); });
  }

  std::optional<std::string> found;

 private:
  void visit(const syntax::atom& atom) {
    const named_symbol* const relation = program_.names().find_relation(atom.name.text);
    if (relation == nullptr || relation->attributes == nullptr) return;
    for (std::size_t at = 0; at < std::min(atom.arguments.size(), relation->attributes->size()); ++at) {
      const auto* variable = atom.arguments[at].as<syntax::variable>();
      if (!found && variable != nullptr && variable->name == variable_) found = (*relation->attributes)[at].type.text;
    }
  }

  const compiled_program& program_;
  const std::string& variable_;
};

const syntax::clause* find_clause(const std::vector<syntax::item>& items, const source_span& span) {
  for (const syntax::item& item : items) {
    if (const auto* clause = item.as<syntax::clause>(); clause != nullptr && is_at(clause->span, span)) return clause;
    const auto* component = item.as<syntax::component>();
    const syntax::clause* const inner = component == nullptr ? nullptr : find_clause(component->items, span);
    if (inner != nullptr) return inner;
  }
  return nullptr;
}

}  // namespace

call_signature signature_of(const std::string& name, const std::vector<syntax::attribute>& attributes) {
  std::vector<std::string> parameters;
  for (const syntax::attribute& each : attributes) {
    parameters.push_back(each.name.text.empty() ? each.type.text : each.name.text + ":" + each.type.text);
  }
  return joined(name, std::move(parameters), "");
}

std::optional<call_signature> signature_of(const compiled_program& program, const std::string& name) {
  const name_index& names = program.names();
  const named_symbol* symbol = nullptr;
  if (name.starts_with('@')) {
    symbol = names.find_symbol(name_kind::functor, name.substr(1));
    if (symbol == nullptr) return std::nullopt;
    call_signature result = signature_of(name, *symbol->attributes);
    result.label += ":" + symbol->functor->result.text;
    return result;
  }
  if (name.starts_with('$')) {
    symbol = names.find_symbol(name_kind::branch, name.substr(1));
  } else {
    symbol = names.find_relation(name);
    const auto* functor = symbol == nullptr ? sema::find_functor(name) : nullptr;
    if (functor != nullptr) return built_in(name, *functor);
  }
  if (symbol == nullptr || symbol->attributes == nullptr) return std::nullopt;
  return signature_of(name, *symbol->attributes);
}

std::string declaration_text(const named_symbol& symbol) {
  constexpr std::size_t longest = 1000;
  const source_span& span = symbol.whole;
  std::string_view text = span.file->text().substr(span.begin, span.end - span.begin);
  if (symbol.kind == name_kind::component) text = text.substr(0, text.find('{'));
  return std::string(text.substr(0, longest)) + (text.size() > longest ? "..." : "");
}

std::string documentation_of(const source_span& declaration) {
  const std::string_view text = declaration.file->text();
  std::size_t end = declaration.begin == 0 ? 0 : text.rfind('\n', declaration.begin - 1) + 1;
  if (!is_blank_text(text.substr(end, declaration.begin - end))) return {};
  std::vector<std::string> lines;
  bool is_in_block = false;
  while (end > 0) {
    const std::string_view line = trimmed_line(line_before(text, end));
    if (line.ends_with("*/")) is_in_block = true;
    if (!is_in_block && !line.starts_with("//")) break;
    lines.push_back(comment_line(line));
    if (line.starts_with("/*")) is_in_block = false;
    end -= std::min(end, line_before(text, end).size() + 1);
  }
  std::reverse(lines.begin(), lines.end());
  std::string result;
  for (const std::string& line : lines) {
    if (!result.empty() || !line.empty()) result += line + "\n";
  }
  return result.empty() || is_in_block ? "" : result.substr(0, result.find_last_not_of('\n') + 1);
}

std::optional<std::string> type_of_variable(const compiled_program& program, const source_span& clause,
                                            const std::string& variable) {
  const syntax::clause* const found = find_clause(program.tree.items, clause);
  if (found == nullptr) return std::nullopt;
  type_finder types(program, variable);
  types.visit(*found);
  return types.found;
}

std::optional<std::string> type_of_variable(const compiled_program& program,
                                            const std::vector<const syntax::literal*>& parts,
                                            const std::string& variable) {
  type_finder types(program, variable);
  for (const syntax::literal* part : parts) types.visit(*part);
  return types.found;
}

std::string type_of_argument(const compiled_program& program, const source_span& clause,
                             const syntax::argument& argument) {
  if (const auto* variable = argument.as<syntax::variable>()) {
    return type_of_variable(program, clause, variable->name).value_or("number");
  }
  if (argument.as<syntax::string_constant>() != nullptr) return "symbol";
  if (const auto* number = argument.as<syntax::numeric_constant>()) {
    if (number->form == syntax::numeric_form::unsigned_number) return "unsigned";
    if (number->form == syntax::numeric_form::floating) return "float";
  }
  if (const auto* branch = argument.as<syntax::branch_constructor>()) {
    const named_symbol* const symbol = program.names().find_symbol(name_kind::branch, branch->branch.text);
    if (symbol != nullptr) return symbol->owner;
  }
  if (const auto* cast = argument.as<syntax::type_cast>()) return cast->type.text;
  return "number";
}

}  // namespace gpulog::lsp
