#pragma once

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "syntax/lexer.hpp"
#include "syntax/mapped_text.hpp"
#include "syntax/parser.hpp"
#include "syntax/token.hpp"

namespace gpulog::syntax {

/// Maximum nesting depth of included files.
inline constexpr std::size_t max_include_depth = 100;

/// Returns the path of an included file: in the folder of the including file, otherwise in one of the folders; empty if
/// not found. Only regular files count.
[[nodiscard]] std::string find_include(const std::string& name, const source_file& including,
                                       const source_manager& sources, const std::vector<std::string>& directories);

/// The tokens of a program, with included files instead of their `.include`.
class token_stream {
 public:
  token_stream(source_file& main_file, source_manager& sources, diagnostics& report, const parse_options& options);

  /// Returns the token that take() will return.
  const token& peek();
  /// Returns the next token that is not an aside.
  token take();
  /// Returns the asides before the last taken token.
  [[nodiscard]] const std::vector<token>& asides() const { return asides_; }

 private:
  /// An open text: the main file or an included file.
  struct level {
    source_file* file;
    std::unique_ptr<mapped_text> text;
    lexer tokens;
  };
  void enter_main(source_file& file);
  void push_level(source_file& file, std::unique_ptr<mapped_text> text, source_file* raw_file);
  void enter_included(const token& directive, const token& name);
  token lex();
  token produce();

  source_manager& sources_;
  diagnostics& report_;
  const parse_options& options_;
  std::deque<std::string> texts_;  ///< of tokens
  std::vector<level> levels_;
  std::set<std::string> entered_once_;
  std::size_t included_bytes_ = 0;
  std::deque<token> ahead_;
  std::vector<token> asides_;
};

}  // namespace gpulog::syntax
