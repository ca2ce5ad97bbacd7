#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/diagnostics.hpp"
#include "support/source.hpp"
#include "syntax/ast.hpp"
#include "syntax/token.hpp"

namespace gpulog::syntax {

/// The depth of trees of arguments for which a usual stack of 8 MB suffices, and the depth for which on_deep_stack()
/// does. Aggregates and casts within each other are limited to the former in any case, literals to a quarter of it.
inline constexpr std::uint32_t max_nesting_depth = 1000;
inline constexpr std::uint32_t deepest_nesting = 200'000;

struct parse_options {
  /// Searched by `.include` and `#include` after the folder of the including file.
  std::vector<std::string> include_directories = {"."};
  /// "NAME" or "NAME=VALUE", like -D of a C preprocessor.
  std::vector<std::string> macros;
  /// Whether to process macros and lines that start with `#`; like Soufflé, not in files read by `.include`.
  bool preprocess = true;
  /// Word size in bits, the value of the predefined macro RAM_DOMAIN_SIZE.
  std::uint32_t word_bits = 32;
  /// Whether to report deprecated forms and ignored lines.
  bool warnings = true;
  /// How deep trees of arguments may be; a deeper program is rejected with a diagnostic.
  std::uint32_t deepest = max_nesting_depth;
  /// Whether the tree depends neither on files of `.include` nor on line numbers: `.include` is skipped, `__LINE__` is
  /// 0 and `__INCL__` is empty.
  bool isolated = false;
  /// Whether the tree has all items; otherwise only diagnostics count, and the tree has the last two items of a list.
  bool keeps_items = true;
  /// Receives all tokens of the program, if not null.
  std::vector<token_place>* tokens = nullptr;
  /// Whether further files may be read.
  bool allow_include = true;
};

/// Parses a program and its included files. Never throws because of the text: reports several errors in one run, and
/// returns the items that could be read (to be used only without errors). Spans of the result refer to files of
/// `sources`.
[[nodiscard]] program parse(source_file& main_file, source_manager& sources, diagnostics& report,
                            const parse_options& options = {});

/// Parses the body of a rule, optionally followed by a dot, without macros and includes. Reports errors and then
/// returns nothing.
[[nodiscard]] std::optional<query> parse_query(source_file& text, source_manager& sources, diagnostics& report,
                                               const parse_options& options = {});

}  // namespace gpulog::syntax
