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

/// What macros are made of: coarser than the language's own tokens.
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

/// The end of the token that begins at `begin`, which is no blank and no comment.
[[nodiscard]] std::size_t end_of_macro_token(std::string_view text, std::size_t begin);
/// The kind of a token by its first character.
[[nodiscard]] macro_token::kind kind_of_macro_token(std::string_view token);
/// A text without comments and line ends, cut into tokens.
[[nodiscard]] std::vector<macro_token> macro_tokens(std::string_view text);
/// Tokens as text, with spaces where they had them and where they would grow together.
[[nodiscard]] std::string spelled(const std::vector<macro_token>& tokens);

struct macro {
  std::string name;
  bool takes_arguments = false;
  bool variadic = false;  ///< the last parameter takes all further arguments
  std::vector<std::string> parameters;
  std::vector<macro_token> body;
  bool under_expansion = false;
};

/// Where the tokens behind a macro's name come from.
class macro_input {
 public:
  virtual ~macro_input() = default;
  /// The next token, nullptr at the end.
  virtual const macro_token* peek() = 0;
  virtual void advance() = 0;
};

/// The macros that are defined, and their expansion with limits on its size.
class macro_table {
 public:
  /// Called with a message for what is wrong with a call.
  using error_function = std::function<void(const std::string&)>;

  /// Reads "NAME body" or "NAME(a, b) body", replacing an earlier macro; false with a message when it is malformed.
  bool define(std::string_view definition, const error_function& error);
  void undefine(std::string_view name);
  [[nodiscard]] bool is_defined(std::string_view name) const { return macros_.find(name) != macros_.end(); }

  /// Expands the macro that `name` names, with arguments from `input`; nothing when it is not called (a macro with
  /// arguments without parentheses behind it).
  std::optional<std::vector<macro_token>> expand(const macro_token& name, macro_input& input,
                                                 const error_function& error);
  /// Expands all macros in a list.
  std::vector<macro_token> expand_all(const std::vector<macro_token>& tokens, const error_function& error);

  /// Whether expansion has been given up since it grew too large; reported once.
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
  std::size_t spent_ = 0;          ///< bytes and tokens made so far, of the whole text
  std::size_t spent_at_call_ = 0;  ///< spent_ when the outermost call under way began
  std::uint32_t depth_ = 0;
  bool exhausted_ = false;
};

}  // namespace gpulog::syntax
