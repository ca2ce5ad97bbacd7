#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/diagnostics.hpp"
#include "support/source.hpp"
#include "syntax/ast.hpp"

namespace gpulog::syntax {

/// The depth of trees of arguments for which a usual stack of 8 MB suffices, and the depth for which on_deep_stack()
/// does. Aggregates and casts within each other are limited to the former in any case, literals to a quarter of it.
inline constexpr std::uint32_t max_nesting_depth = 1000;
inline constexpr std::uint32_t deepest_nesting = 200'000;

struct parse_options {
  /// Where `.include` and `#include` look, after the folder of the including file.
  std::vector<std::string> include_directories = {"."};
  /// "NAME" or "NAME=VALUE", as with -D of a C preprocessor.
  std::vector<std::string> macros;
  /// Whether lines that begin with `#` and macros are processed; as Soufflé, not in files read by `.include`.
  bool preprocess = true;
  /// Word size in bits, the value of the predefined macro RAM_DOMAIN_SIZE.
  std::uint32_t word_bits = 32;
  /// Whether deprecated forms and ignored lines are reported.
  bool warnings = true;
  /// How deep trees of arguments may be; a deeper program is rejected with a diagnostic.
  std::uint32_t deepest = max_nesting_depth;
  /// Whether other files may be read at all.
  bool allow_include = true;
};

/// Parses a program and what it includes. Never throws because of the text: everything wrong is reported, several
/// errors in one run, and the result holds the items that could be read (to be used only when there was no error).
/// Spans of the result refer to files of `sources`.
[[nodiscard]] program parse(source_file& main_file, source_manager& sources, diagnostics& report,
                            const parse_options& options = {});

/// Parses the body of a rule, behind which a dot may stand. It has neither macros nor includes. Nothing where it is
/// wrong, which is reported.
[[nodiscard]] std::optional<query> parse_query(source_file& text, source_manager& sources, diagnostics& report,
                                               const parse_options& options = {});

}  // namespace gpulog::syntax
