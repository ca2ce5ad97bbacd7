#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpulog::syntax {

/// A token for macros: coarser than the language's tokens.
struct macro_token {
  enum class kind : std::uint8_t { identifier, number, string, character, punctuation };
  kind what = kind::punctuation;
  std::string text;
  bool space_before = false;
  /// An identifier that came out of its own macro: never expanded again.
  bool final = false;

  [[nodiscard]] bool is(std::string_view wanted) const { return what == kind::punctuation && text == wanted; }
};

[[nodiscard]] bool is_macro_name_start(char c);
[[nodiscard]] bool is_macro_name_part(char c);

/// Returns the end of the token at `begin`, which is neither blank nor comment.
[[nodiscard]] std::size_t end_of_macro_token(std::string_view text, std::size_t begin);
/// Returns the kind of a token from its first character.
[[nodiscard]] macro_token::kind kind_of_macro_token(std::string_view token);
/// Splits a text without comments and line ends into tokens.
[[nodiscard]] std::vector<macro_token> macro_tokens(std::string_view text);
/// Returns tokens as text, with their original spaces and spaces between tokens that would merge.
[[nodiscard]] std::string spelled(const std::vector<macro_token>& tokens);

struct macro {
  std::string name;
  bool takes_arguments = false;
  bool variadic = false;  ///< the last parameter takes all further arguments
  std::vector<std::string> parameters;
  std::vector<macro_token> body;
  bool under_expansion = false;
};

/// The source of the tokens after a macro's name.
class macro_input {
 public:
  virtual ~macro_input() = default;
  /// Returns the next token, or nullptr at the end.
  virtual const macro_token* peek() = 0;
  virtual void advance() = 0;
};

/// The defined macros, and their expansion with size limits.
class macro_table {
 public:
  /// Called with a message for an invalid call.
  using error_function = std::function<void(const std::string&)>;

  /// Reads "NAME body" or "NAME(a, b) body", replacing an earlier macro; returns false, with a message, for a malformed
  /// definition.
  bool define(std::string_view definition, const error_function& error);
  void undefine(std::string_view name);
  [[nodiscard]] bool has_definition(std::string_view name) const { return macros_.find(name) != macros_.end(); }
  /// As #ifdef and `defined` answer: also for the macros that the lexer replaces.
  [[nodiscard]] bool is_defined(std::string_view name) const {
    return has_definition(name) || name == "__LINE__" || name == "__FILE__";
  }

  /// Expands the macro `name` with arguments from `input`; returns nothing if a macro with arguments is not followed by
  /// parentheses.
  std::optional<std::vector<macro_token>> expand(const macro_token& name, macro_input& input,
                                                 const error_function& error);
  /// Expands all macros in a list.
  std::vector<macro_token> expand_all(const std::vector<macro_token>& tokens, const error_function& error);

  /// Returns whether expansion has stopped because it grew too large; reported once.
  [[nodiscard]] bool exhausted() const { return exhausted_; }

 private:
  using arguments = std::vector<std::vector<macro_token>>;
  struct context;
  class expansion;

  bool charge(std::size_t size, const error_function& error);
  std::optional<arguments> bind(const macro& called, arguments given, const error_function& error) const;
  std::vector<macro_token> substitute(const macro& called, const arguments& given, const error_function& error);
  void expand_list(const std::vector<macro_token>& tokens, std::vector<macro_token>& out, const error_function& error);

  std::map<std::string, macro, std::less<>> macros_;
  std::size_t spent_ = 0;          ///< bytes and tokens produced so far, over the whole text
  std::size_t spent_at_call_ = 0;  ///< spent_ at the start of the outermost active call
  std::uint32_t depth_ = 0;
  bool exhausted_ = false;
};

}  // namespace gpulog::syntax
