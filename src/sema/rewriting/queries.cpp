#include "sema/rewriting/queries.hpp"

#include <string_view>
#include <unordered_set>

#include "sema/rewriting/syntax_walk.hpp"
#include "sema/types/types.hpp"

namespace gpulog::sema {

syntax::clause clause_of(const syntax::query& asked, std::size_t number) {
  syntax::clause result;
  result.span = asked.span;
  result.body = asked.body;
  syntax::atom& head = result.heads.emplace_back();
  head.name = {"query " + std::to_string(number), asked.span};
  head.span = asked.span;
  std::unordered_set<std::string> seen;
  const auto add = [&](const syntax::variable& variable, const syntax::argument& term) {
    if (!variable.name.starts_with('_') && seen.insert(variable.name).second) head.arguments.push_back(term);
  };
  for (const syntax::conjunction& alternative : asked.body) {
    for (const syntax::literal& part : alternative) for_each_own_variable(part, add);
  }
  return result;
}

std::string text_of(const syntax::query& asked) {
  const source_span& span = asked.span;
  const std::string_view written = span.file->text().substr(span.begin, span.end - span.begin);
  std::string result;
  for (const char c : written) {
    const bool is_break = c == '\n' || c == '\r' || c == '\t';
    if (!is_break) result += c;
    if (is_break && !result.ends_with(' ')) result += ' ';
  }
  return result;
}

bool take_types(relation& asked, const syntax::atom& head, const clause_types& types, diagnostics& diagnostics) {
  for (std::size_t column = 0; column < asked.attributes.size(); ++column) {
    attribute& taker = asked.attributes[column];
    const syntax::argument& variable = head.arguments[column];
    const value_kind kind = types.kind(variable);
    const structure_id structure = types.structure(variable);
    const bool is_structured = kind == value_kind::record || kind == value_kind::adt;
    const bool is_other = !taker.type_name.empty() && (taker.kind != kind || taker.structure != structure);
    if (is_other || (is_structured && !structure.valid())) {
      diagnostics.error(variable.span, "Unable to deduce type for variable " + taker.name);
      return false;
    }
    taker.kind = kind;
    taker.structure = structure;
    taker.type_name = kind_name(kind);
  }
  return true;
}

void leave_out_outputs(program& analysed) {
  for (relation& one : analysed.relations) {
    if (one.is_query) continue;
    std::erase_if(one.directives, [](const io_directive& directive) {
      return directive.kind == directive_kind::output || directive.kind == directive_kind::printsize;
    });
  }
}

}  // namespace gpulog::sema
