#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/diagnostics.hpp"
#include "support/source.hpp"
#include "syntax/ast.hpp"

namespace gpulog::syntax {

/// Trees of arguments are at most this deep, literals within literals a quarter of it; a deeper program is rejected
/// with a diagnostic.
inline constexpr std::uint32_t max_nesting_depth = 1000;

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
