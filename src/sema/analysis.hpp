#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sema/program.hpp"
#include "support/diagnostics.hpp"
#include "syntax/ast.hpp"

namespace gpulog::sema {

struct analysis_options {
  bool warnings = true;  ///< false: report no warnings (-w)
  word_size words = word_size::bits32;
  /// Pragmas that override the program's. `legacy`: checks only the kinds of arguments of atoms; `inline-exclude` and
  /// `magic-transform-exclude`: comma-separated relations that are not inlined or not transformed.
  std::map<std::string, std::string> pragmas = {};
  std::set<std::string> filled_relations = {};  ///< relations filled by the caller, which need neither rules nor facts
  /// Each query becomes a relation that is printed on standard output.
  std::vector<syntax::query> queries = {};
  std::map<std::string, std::string> query_parameters = {{"IO", "stdout"}, {"headers", "true"}};  ///< of .output
  bool only_queries = false;    ///< ignore .output and .printsize
  bool expects_output = false;  ///< a program without .output and .printsize gets a warning
  bool lint = false;            ///< warn of items that are valid but probably not intended
  /// Returns the number of a text in an engine that already has texts. Empty: the analysis assigns new numbers.
  std::function<wide_word(const std::string& text)> number_symbol = {};
};

/// Resolves, types, checks, desugars and stratifies a parsed program. Reports as many errors as possible in one run to
/// `diagnostics`.
/// @return nothing after an error
[[nodiscard]] std::optional<program> analyse(const syntax::program& parsed, diagnostics& diagnostics,
                                             const analysis_options& options = {});

}  // namespace gpulog::sema
