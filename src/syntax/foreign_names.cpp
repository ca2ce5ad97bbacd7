#include <algorithm>
#include <span>
#include <vector>

#include "support/suggestion.hpp"
#include "syntax/hints.hpp"
#include "syntax/lexer.hpp"

namespace gpulog::syntax {

namespace {

struct foreign_name {
  std::string_view foreign, ours;
};

constexpr foreign_name foreign_functors[] = {
    {"concat", "cat"},         {"strcat", "cat"},       {"concatenate", "cat"},
    {"length", "strlen"},      {"len", "strlen"},       {"strlength", "strlen"},
    {"substring", "substr"},   {"str", "to_string"},    {"tostring", "to_string"},
    {"string", "to_string"},   {"int", "to_number"},    {"integer", "to_number"},
    {"tonumber", "to_number"}, {"number", "to_number"}, {"unsigned", "to_unsigned"},
    {"float", "to_float"},     {"double", "to_float"},  {"cast", "as"},
    {"hash", "ord"},           {"least", "min"},        {"greatest", "max"},
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

const std::vector<std::string>& functor_names() {
  static const std::vector<std::string> names = {"cat",         "ord",       "range",     "strlen", "substr",
                                                 "to_float",    "to_number", "to_string", "min",    "max",
                                                 "to_unsigned", "as",        "autoinc"};
  return names;
}

const std::vector<std::string>& aggregate_names() {
  static const std::vector<std::string> names = {"count", "sum", "min", "max", "mean"};
  return names;
}

}  // namespace

bool is_name(std::string_view text) { return !text.empty() && is_identifier_start(text.front()); }

std::string hint_about_directive(std::string_view name) {
  if (name.empty()) return {};
  std::vector<std::string> known;
  for (const std::string_view one : directive_names()) known.emplace_back(one);
  const std::string meant = ours_for(name, foreign_directives, known);
  return "There is no directive ." + std::string(name) + (meant.empty() ? "" : ", did you mean '." + meant + "'?");
}

std::string hint_about_aggregate(std::string_view name) {
  if (!is_name(name)) return {};
  const std::string meant = ours_for(name, foreign_aggregates, aggregate_names());
  if (meant.empty() || meant == name) return {};
  return "There is no aggregate " + std::string(name) + ", did you mean '" + meant + "'?";
}

std::string hint_about_functor(std::string_view name) {
  std::string meant = ours_for(name, foreign_functors, functor_names());
  if (meant.empty()) meant = ours_for(name, foreign_aggregates, aggregate_names());
  if (meant.empty()) return {};
  return "There is no functor " + std::string(name) + ", did you mean '" + meant + "'?";
}

}  // namespace gpulog::syntax
