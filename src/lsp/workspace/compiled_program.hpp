#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lsp/names/name_index.hpp"
#include "lsp/protocol/text_index.hpp"
#include "lsp/workspace/settings.hpp"
#include "sema/program.hpp"
#include "support/diagnostics.hpp"
#include "support/source.hpp"
#include "syntax/ast.hpp"
#include "syntax/format/items.hpp"
#include "syntax/format/pieces.hpp"

namespace gpulog::lsp {

/// Texts of the editor, by identity of the file.
using open_texts = std::map<std::string, std::string_view>;

/// A file before the preprocessor runs.
struct file_tokens {
  syntax::format_pieces pieces;
  std::vector<syntax::format_item> items;
};

/// A program with all readable files. Spans of all members refer to `sources`.
struct compiled_program {
  source_manager sources;
  source_file* main = nullptr;  ///< nullptr: the main file cannot be read
  diagnostics report;
  syntax::program tree;
  std::optional<sema::program> analysed;  ///< nothing after an error

  /// Returns the file with this identity; nullptr if the program does not read the file.
  [[nodiscard]] const source_file* find_file(const std::string& identity) const;
  /// Returns whether the program reads the file or, after `#pragma once`, skips it.
  [[nodiscard]] bool includes(const std::string& identity) const;
  [[nodiscard]] const text_index& index(const source_file& file) const;

  [[nodiscard]] const name_index& names() const;
  /// Returns the tokens, comments and items of a file.
  [[nodiscard]] const file_tokens& tokens(const source_file& file) const;

  explicit compiled_program(position_encoding encoding) : encoding_(encoding) {}

 private:
  position_encoding encoding_;
  mutable std::map<const source_file*, std::unique_ptr<text_index>> indexes_;
  mutable std::map<const source_file*, std::unique_ptr<file_tokens>> tokens_;
  mutable std::unique_ptr<name_index> names_;
};

/// Returns the options for the parser.
[[nodiscard]] syntax::parse_options parse_options_of(const workspace_settings& settings);

/// Reads and analyses a program. Never throws because of the text.
/// @param main_file the identity of the main file
[[nodiscard]] std::unique_ptr<compiled_program> compile(const std::string& main_file, const open_texts& texts,
                                                        const workspace_settings& settings);

}  // namespace gpulog::lsp
