#include "lsp/features/figures.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <optional>

namespace gpulog::lsp {

namespace {

std::string count_of(std::uint64_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

json lens(const file_view& view, const source_span& span, const std::string& title) {
  return {{"range", view.range(span)}, {"command", {{"title", title}, {"command", ""}}}};
}

}  // namespace

std::string text_of(const relation_figures& figures) {
  return "Last run: " + count_of(figures.tuples, "tuple") + ", " + count_of(figures.bytes, "byte");
}

std::string text_of(const clause_figures& figures) {
  return fmt::format("Last run: {:.3g} s, {}, {}", figures.seconds, count_of(figures.tuples, "tuple"),
                     count_of(figures.duplicates, "duplicate"));
}

json code_lenses(const file_view& view) {
  json result = json::array();
  if (view.figures == nullptr) return result;
  for (const named_symbol& symbol : view.program.names().symbols()) {
    if (symbol.kind != name_kind::relation || !symbol.owner.empty() || !view.has(symbol.whole)) continue;
    const auto figures = view.figures->relation(symbol.name);
    if (figures) result.push_back(lens(view, symbol.declared, text_of(*figures)));
  }
  for (const indexed_clause& clause : view.program.names().clauses()) {
    if (clause.is_fact || !view.has(clause.span)) continue;
    const auto figures = view.figures->clause(clause.span);
    if (figures) result.push_back(lens(view, clause.span, text_of(*figures)));
  }
  return result;
}

}  // namespace gpulog::lsp
