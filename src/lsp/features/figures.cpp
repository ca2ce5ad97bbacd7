#include "lsp/features/figures.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <type_traits>

#include "lsp/features/questions.hpp"

namespace gpulog::lsp {

namespace {

std::string count_of(std::uint64_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// Calls action(span of the name or clause, span of the declaration or clause, figures) for each relation and rule of
/// the file that has figures.
template <class Action>
void for_each_figures(const file_view& view, const Action& action) {
  if (view.figures == nullptr) return;
  for (const named_symbol& symbol : view.program.names().symbols()) {
    if (symbol.kind != name_kind::relation || !symbol.owner.empty() || !view.has(symbol.whole)) continue;
    const auto figures = view.figures->relation(symbol.name);
    if (figures) action(symbol.declared, symbol.whole, *figures);
  }
  for (const indexed_clause& clause : view.program.names().clauses()) {
    if (clause.is_fact || !view.has(clause.span)) continue;
    const auto figures = view.figures->clause(clause.span);
    if (figures) action(clause.span, clause.span, *figures);
  }
}

std::string short_text_of(const relation_figures& figures) { return count_of(figures.tuples, "tuple"); }
std::string short_text_of(const clause_figures& figures) {
  return fmt::format("{:.3g} s, {}", figures.seconds, count_of(figures.tuples, "tuple"));
}

}  // namespace

std::string text_of(const relation_figures& figures) {
  return "Last run: " + count_of(figures.tuples, "tuple") + ", " + count_of(figures.bytes, "byte");
}

std::string text_of(const clause_figures& figures) {
  return fmt::format("Last run: {:.3g} s, {}, {}", figures.seconds, count_of(figures.tuples, "tuple"),
                     count_of(figures.duplicates, "duplicate"));
}

json code_lenses(const file_view& view, bool has_plans) {
  json result = json::array();
  for_each_figures(view, [&](const source_span& name, const source_span&, const auto& figures) {
    constexpr bool is_rule = std::is_same_v<decltype(figures), const clause_figures&>;
    const std::string title = text_of(figures);
    result.push_back({{"range", view.range(name)},
                      {"command", is_rule && has_plans ? plan_command_at(view, name.begin, title)
                                                       : json{{"title", title}, {"command", ""}}}});
  });
  return result;
}

json inlay_hints(const file_view& view, std::size_t begin, std::size_t end) {
  json result = json::array();
  for_each_figures(view, [&](const source_span&, const source_span& whole, const auto& figures) {
    if (whole.end < begin || whole.end > end) return;
    result.push_back({{"position", view.range(whole.end, whole.end)["start"]},
                      {"label", short_text_of(figures)},
                      {"tooltip", text_of(figures)},
                      {"paddingLeft", true}});
  });
  return result;
}

}  // namespace gpulog::lsp
