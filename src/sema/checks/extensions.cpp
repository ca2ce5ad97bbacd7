#include "sema/checks/extensions.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "sema/rewriting/syntax_walk.hpp"
#include "support/value_table.hpp"

namespace gpulog::sema {

namespace {

using syntax::functor;

/// Returns what programs for Soufflé have instead of the functor.
std::string_view portable_form(functor op) {
  static constexpr entry<functor, std::string_view> table[] = {
      {functor::starts_with, "Write substr(s, 0, strlen(t)) = t"},
      {functor::ends_with, "Write substr(s, strlen(s) - strlen(t), strlen(t)) = t, strlen(s) >= strlen(t)"},
      {functor::index_of, "Write i = range(0, strlen(s)), substr(s, i, strlen(t)) = t for each index of t"},
      {functor::format, "Write cat(a, to_string(b), ...)"}};
  return find_in(table, op).value_or("A functor of a library can do this; .functor declares one");
}

template <class Node>
void warn_of_functors(const Node& node, diagnostics& diagnostics) {
  walk_terms(node, [&](const syntax::argument& term) {
    const auto* call = term.as<syntax::functor_call>();
    if (call == nullptr || call->op < functor::starts_with) return true;
    auto* const warning = diagnostics.warning(
        term.span, "Soufflé has no functor " + std::string(syntax::spelling(call->op)), warning_kind::portable);
    if (warning != nullptr) warning->note(std::string(portable_form(call->op)));
    return true;
  });
}

void warn_of_parameters(const syntax::directive& directive, diagnostics& diagnostics) {
  for (const syntax::directive_parameter& parameter : directive.parameters) {
    const std::string& key = parameter.key.text;
    const std::string& value = parameter.value;
    const bool is_format = key == "IO" && (value == "parquet" || value == "arrow");
    const bool is_zstd = (key == "compress" && value == "zstd") || (key == "filename" && value.ends_with(".zst"));
    if (!is_format && !is_zstd) continue;
    diagnostics.warning(parameter.key.span,
                        "Soufflé does not know " + (is_format ? key + "=" + value : "the compression zstd"),
                        warning_kind::portable);
  }
}

/// The columns of inline relations for which some definition has a record or branch.
using structured_columns = std::set<std::pair<std::string, std::size_t>>;

bool is_structure(const syntax::argument& term) {
  if (const auto* cast = term.as<syntax::type_cast>()) return is_structure(*cast->value);
  return term.as<syntax::record_constructor>() != nullptr || term.as<syntax::branch_constructor>() != nullptr;
}

structured_columns find_structured_columns(const std::vector<syntax::item>& items, const declarations& declared) {
  structured_columns found;
  for (const syntax::item& item : items) {
    const auto* clause = item.as<syntax::clause>();
    if (clause == nullptr || clause->body.empty()) continue;
    for (const syntax::atom& head : clause->heads) {
      const auto relation = declared.find_relation(head.name.text);
      if (!relation || !declared.is_inline(*relation)) continue;
      for (std::size_t column = 0; column < head.arguments.size(); ++column) {
        if (is_structure(head.arguments[column])) found.emplace(head.name.text, column);
      }
    }
  }
  return found;
}

void warn_of_negations(const syntax::literal& part, const structured_columns& structured, bool is_negated,
                       diagnostics& diagnostics) {
  if (const auto* negation = part.as<syntax::negation>()) {
    warn_of_negations(*negation->inner, structured, !is_negated, diagnostics);
  }
  if (const auto* group = part.as<syntax::group>()) {
    for (const syntax::conjunction& conjunction : group->alternatives) {
      for (const syntax::literal& inner : conjunction) warn_of_negations(inner, structured, is_negated, diagnostics);
    }
  }
  const auto* atom = part.as<syntax::atom>();
  if (atom == nullptr || !is_negated) return;
  for (std::size_t column = 0; column < atom->arguments.size(); ++column) {
    if (is_structure(atom->arguments[column]) || !structured.contains({atom->name.text, column})) continue;
    diagnostics
        .warning(part.span, "Soufflé rejects a negated atom of an inline relation whose definition has a record",
                 warning_kind::portable)
        ->note("Write the record in the atom, too");
    return;
  }
}

bool reads_own_recursion(const std::vector<literal>& body, bool is_inside, std::uint32_t component,
                         const std::vector<std::uint32_t>& component_of) {
  return std::any_of(body.begin(), body.end(), [&](const literal& part) {
    const auto* read = std::get_if<atom>(&part);
    if (read != nullptr) return is_inside && component_of[read->relation.value] == component;
    const auto* folded = std::get_if<aggregate>(&part);
    return folded != nullptr && reads_own_recursion(folded->body, true, component, component_of);
  });
}

}  // namespace

void warn_of_extensions(const std::vector<syntax::item>& items, const declarations& declared,
                        diagnostics& diagnostics) {
  const structured_columns structured = find_structured_columns(items, declared);
  for (const syntax::item& item : items) {
    if (const auto* clause = item.as<syntax::clause>()) {
      for (const syntax::atom& head : clause->heads) warn_of_functors(head, diagnostics);
      warn_of_functors(clause->body, diagnostics);
      for (const syntax::conjunction& conjunction : clause->body) {
        for (const syntax::literal& part : conjunction) warn_of_negations(part, structured, false, diagnostics);
      }
    }
    if (const auto* subsumption = item.as<syntax::subsumption>()) warn_of_functors(subsumption->body, diagnostics);
    if (const auto* directive = item.as<syntax::directive>()) warn_of_parameters(*directive, diagnostics);
  }
}

void warn_of_recursive_aggregates(const program& program, const std::vector<std::uint32_t>& component_of,
                                  diagnostics& diagnostics) {
  for (const rule& rule : program.rules) {
    if (!reads_own_recursion(rule.body, false, component_of[rule.head.relation.value], component_of)) continue;
    diagnostics.warning(rule.span, "Soufflé rejects an aggregate over a relation of its own recursion",
                        warning_kind::portable);
  }
}

}  // namespace gpulog::sema
