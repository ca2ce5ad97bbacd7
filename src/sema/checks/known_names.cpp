#include "sema/checks/known_names.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "support/suggestion.hpp"

namespace gpulog::sema {

namespace {

constexpr std::pair<std::string_view, std::string_view> other_parameters[] = {
    {"io", "IO"},           {"delim", "delimiter"},      {"sep", "delimiter"},  {"separator", "delimiter"},
    {"file", "filename"},   {"path", "filename"},        {"header", "headers"}, {"db", "dbname"},
    {"database", "dbname"}, {"compression", "compress"}, {"gzip", "compress"},  {"zstd", "compress"},
    {"limit", "n"}};

/// Parameters with a few values. Soufflé accepts other values, too, with the meaning of the last field.
struct parameter_values {
  std::string_view key;
  std::vector<std::string_view> values;
  std::string_view meaning_of_others;
};

const std::vector<parameter_values>& limited_parameters() {
  static const std::vector<parameter_values> parameters = {{"headers", {"true", "false"}, "false"},
                                                           {"rfc4180", {"true", "false"}, "false"},
                                                           {"format", {"list", "object"}, "list"},
                                                           {"compress", {"true", "gzip", "zstd", "false"}, "gzip"}};
  return parameters;
}

/// Returns supported pragmas, then the long names of Soufflé's options, which are valid pragmas for Soufflé.
const std::vector<std::string>& known_pragmas() {
  static const std::vector<std::string> names = {"fact-dir",
                                                 "output-dir",
                                                 "libraries",
                                                 "library-dir",
                                                 "inline-exclude",
                                                 "legacy",
                                                 "provenance",
                                                 "suppress-warnings",
                                                 "supplementary",
                                                 "magic-transform-exclude",
                                                 "auto-schedule",
                                                 "compile",
                                                 "compile-many",
                                                 "debug-report",
                                                 "disable-transformers",
                                                 "dl-program",
                                                 "emit-statistics",
                                                 "engine",
                                                 "generate",
                                                 "generate-many",
                                                 "generate-namespace",
                                                 "include-dir",
                                                 "index",
                                                 "jobs",
                                                 "live-profile",
                                                 "macro",
                                                 "magic-transform",
                                                 "no-preprocessor",
                                                 "no-warn",
                                                 "parse-errors",
                                                 "preprocessor",
                                                 "profile",
                                                 "profile-frequency",
                                                 "RamSIPS",
                                                 "show",
                                                 "swig",
                                                 "verbose",
                                                 "version",
                                                 "warn",
                                                 "wno"};
  return names;
}

bool is_among(const std::string& name, const std::vector<std::string>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void check_value(const syntax::directive& directive, const syntax::directive_parameter& parameter,
                 diagnostics& diagnostics) {
  const std::string& key = parameter.key.text;
  const auto warn = [&](const std::string& what) {
    diagnostics.warning(parameter.key.span,
                        "Parameter " + key + " of " + std::string(spelling(directive.kind)) + " " + what,
                        warning_kind::unknown_parameter);
  };
  for (const parameter_values& known : limited_parameters()) {
    if (known.key != key) continue;
    if (std::find(known.values.begin(), known.values.end(), parameter.value) != known.values.end()) continue;
    warn("has no value \"" + parameter.value + "\": it means " + std::string(known.meaning_of_others));
  }
  const bool separates = !parameter.value.empty() && parameter.value.find('\n') == std::string::npos;
  if (key == "delimiter" && !separates && directive.kind == syntax::directive_kind::output) {
    warn("does not separate columns: the file can't be read back");
  }
}

void check_parameters(const syntax::directive& directive, diagnostics& diagnostics) {
  for (const syntax::directive_parameter& parameter : directive.parameters) {
    const std::string& key = parameter.key.text;
    check_value(directive, parameter, diagnostics);
    if (is_among(key, known_parameters())) continue;
    const auto* const other = std::find_if(std::begin(other_parameters), std::end(other_parameters),
                                           [&](const auto& one) { return one.first == key; });
    auto* const warning = diagnostics.warning(
        parameter.key.span,
        "Unknown parameter " + key + " of " + std::string(spelling(directive.kind)) + " has no effect",
        warning_kind::unknown_parameter);
    if (warning == nullptr) continue;
    warning->suggest(
        key, other != std::end(other_parameters) ? std::string(other->second) : closest_name(key, known_parameters()));
  }
}

void check_pragma(const std::string& name, const source_span& where, diagnostics& diagnostics) {
  if (is_among(name, known_pragmas())) return;
  auto* const warning =
      diagnostics.warning(where, "Unknown pragma " + name + " has no effect", warning_kind::unknown_pragma);
  if (warning != nullptr) warning->suggest(name, closest_name(name, known_pragmas()));
}

}  // namespace

const std::vector<std::string>& known_parameters() {
  static const std::vector<std::string> names = {
      "IO",     "filename", "name",     "delimiter",  "headers",   "rfc4180",        "columns",  "compress", "format",
      "dbname", "n",        "fact-dir", "output-dir", "operation", "attributeNames", "auxArity", "params",   "types"};
  return names;
}

std::vector<std::string_view> known_values(std::string_view parameter) {
  for (const parameter_values& known : limited_parameters()) {
    if (known.key == parameter) return known.values;
  }
  return {};
}

void warn_of_unknown_names(const std::vector<syntax::item>& items, const std::map<std::string, std::string>& pragmas,
                           diagnostics& diagnostics) {
  for (const syntax::item& item : items) {
    if (const auto* directive = item.as<syntax::directive>()) check_parameters(*directive, diagnostics);
    if (const auto* pragma = item.as<syntax::pragma>()) check_pragma(pragma->name, pragma->span, diagnostics);
  }
  for (const auto& [name, value] : pragmas) check_pragma(name, {}, diagnostics);
}

}  // namespace gpulog::sema
