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
  bool warnings = true;  ///< false: as with -w, none are reported
  word_size words = word_size::bits32;
  /// They outweigh those of the program. `legacy`: of an atom's arguments only the kinds are checked; `inline-exclude`
  /// and `magic-transform-exclude`: relations that are not inlined, separated by commas.
  std::map<std::string, std::string> pragmas = {};
  std::set<std::string> filled_relations = {};  ///< by the caller: they need neither rules nor facts
  /// Each becomes a relation that is printed on standard output.
  std::vector<syntax::query> queries = {};
  bool only_queries = false;    ///< .output and .printsize have no effect
  bool expects_output = false;  ///< a program without .output and .printsize gets a warning
  /// Of a program for an engine that has texts already: gives each its number there. Empty: they are numbered anew.
  std::function<wide_word(const std::string& text)> number_symbol = {};
};

/// Resolves, types, checks, desugars and stratifies a parsed program. Everything that is wrong is reported to
/// `diagnostics`, many errors in one run; nothing is returned when there was an error.
[[nodiscard]] std::optional<program> analyse(const syntax::program& parsed, diagnostics& diagnostics,
                                             const analysis_options& options = {});

}  // namespace gpulog::sema
