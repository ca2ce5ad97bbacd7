#include <algorithm>
#include <span>
#include <vector>

#include "support/suggestion.hpp"
#include "syntax/ast.hpp"
#include "syntax/hints.hpp"
#include "syntax/lexer.hpp"

namespace gpulog::syntax {

namespace {

struct foreign_name {
  std::string_view foreign, ours;
};

constexpr foreign_name foreign_functors[] = {
    {"concat", "cat"},         {"strcat", "cat"},         {"concatenate", "cat"},
    {"length", "strlen"},      {"len", "strlen"},         {"strlength", "strlen"},
    {"substring", "substr"},   {"str", "to_string"},      {"tostring", "to_string"},
    {"string", "to_string"},   {"int", "to_number"},      {"integer", "to_number"},
    {"tonumber", "to_number"}, {"number", "to_number"},   {"unsigned", "to_unsigned"},
    {"float", "to_float"},     {"double", "to_float"},    {"cast", "as"},
    {"hash", "ord"},           {"least", "min"},          {"greatest", "max"},
    {"lower", "to_lower"},     {"lowercase", "to_lower"}, {"upper", "to_upper"},
    {"uppercase", "to_upper"}, {"strip", "trim"},         {"find", "index_of"},
    {"position", "index_of"},  {"instr", "index_of"},     {"startswith", "starts_with"},
    {"endswith", "ends_with"}, {"prefix", "starts_with"}, {"suffix", "ends_with"},
    {"printf", "format"},      {"sprintf", "format"},     {"tokenize", "split"},
};
constexpr foreign_name foreign_aggregates[] = {
    {"avg", "mean"}, {"average", "mean"}, {"total", "sum"}, {"minimum", "min"}, {"maximum", "max"}, {"cnt", "count"},
};
constexpr foreign_name foreign_directives[] = {
    {"import", "input"},  {"load", "input"},   {"export", "output"},  {"print", "output"},
    {"relation", "decl"}, {"declare", "decl"}, {"rel", "decl"},       {"component", "comp"},
    {"instance", "init"}, {"typedef", "type"}, {"size", "printsize"},
};

/// The name of ours that is meant, by its meaning elsewhere or by its letters; empty: none.
std::string ours_for(std::string_view name, std::span<const foreign_name> table,
                     const std::vector<std::string>& candidates) {
  const auto found =
      std::find_if(table.begin(), table.end(), [name](const foreign_name& one) { return one.foreign == name; });
  if (found != table.end()) return std::string(found->ours);
  return closest_name(name, candidates).value_or("");
}

const std::vector<std::string>& callable_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result = functor_names();
    result.insert(result.end(), {"as", "autoinc"});
    return result;
  }();
  return names;
}

const std::vector<std::string>& aggregate_names() {
  static const std::vector<std::string> names = {"count", "sum", "min", "max", "mean"};
  return names;
}

std::string_view name_text(const source_span& where) {
  return where.valid() ? where.file->text().substr(where.begin, where.end - where.begin) : std::string_view();
}

hint suggestion(const std::string& kind, std::string_view name, const source_span& where, const std::string& meant) {
  return {"There is no " + kind + " " + std::string(name) + ", did you mean '" + meant + "'?",
          {},
          token_kind::identifier,
          where,
          meant};
}

}  // namespace

bool is_name(std::string_view text) { return !text.empty() && is_identifier_start(text.front()); }

hint hint_about_directive(const source_span& where) {
  const std::string_view name = name_text(where);
  if (name.empty()) return {};
  std::vector<std::string> known;
  for (const std::string_view one : directive_names()) known.emplace_back(one);
  const std::string meant = ours_for(name, foreign_directives, known);
  const std::string text = "There is no directive ." + std::string(name);
  if (meant.empty()) return {text, {}};
  return {text + ", did you mean '." + meant + "'?", {}, token_kind::identifier, where, meant};
}

hint hint_about_aggregate(const source_span& where) {
  const std::string_view name = name_text(where);
  if (!is_name(name)) return {};
  const std::string meant = ours_for(name, foreign_aggregates, aggregate_names());
  if (meant.empty() || meant == name) return {};
  return suggestion("aggregate", name, where, meant);
}

hint hint_about_functor(const source_span& where) {
  const std::string_view name = name_text(where);
  std::string meant = ours_for(name, foreign_functors, callable_names());
  if (meant.empty()) meant = ours_for(name, foreign_aggregates, aggregate_names());
  if (meant.empty()) return {};
  return suggestion("functor", name, where, meant);
}

}  // namespace gpulog::syntax
