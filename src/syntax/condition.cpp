#include "syntax/condition.hpp"

#include <array>
#include <charconv>
#include <string_view>

#include "syntax/lexer.hpp"

namespace gpulog::syntax {

namespace {

constexpr int max_condition_depth = 200;

/// Two's-complement arithmetic, so that no condition can overflow.
std::int64_t wrapped(std::uint64_t value) { return static_cast<std::int64_t>(value); }
std::uint64_t bits(std::int64_t value) { return static_cast<std::uint64_t>(value); }

/// 'a', '\n', '\101', '\x41'; nothing for an unknown escape sequence.
std::optional<std::int64_t> value_of_character(std::string_view text) {
  text = text.substr(1, text.size() - 2);
  if (text.front() != '\\') return text.front();
  text.remove_prefix(1);
  if (text.size() == 1 && !is_digit(text.front())) {
    const auto meant = escaped_character(text.front());
    return meant ? std::optional<std::int64_t>(*meant) : std::nullopt;
  }
  const bool is_hexadecimal = text.front() == 'x';
  if (is_hexadecimal) text.remove_prefix(1);
  unsigned value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value, is_hexadecimal ? 16 : 8);
  if (fault != std::errc() || end != text.data() + text.size() || value > 255) return std::nullopt;
  return static_cast<signed char>(value);
}

struct binary_operator {
  std::string_view text;
  int precedence;
};

// Longer operators first, because operators are assembled from single characters.
constexpr std::array binary_operators = {
    binary_operator{"||", 1}, binary_operator{"&&", 2}, binary_operator{"==", 6}, binary_operator{"!=", 6},
    binary_operator{"<=", 7}, binary_operator{">=", 7}, binary_operator{"<<", 8}, binary_operator{">>", 8},
    binary_operator{"|", 3},  binary_operator{"^", 4},  binary_operator{"&", 5},  binary_operator{"<", 7},
    binary_operator{">", 7},  binary_operator{"+", 9},  binary_operator{"-", 9},  binary_operator{"*", 10},
    binary_operator{"/", 10}, binary_operator{"%", 10},
};

class evaluator {
 public:
  evaluator(const std::vector<macro_token>& tokens, std::uint32_t line) : tokens_(tokens), line_(line) {}

  std::optional<std::int64_t> run() {
    const std::int64_t value = ternary(true);
    if (at_ < tokens_.size()) failed_ = true;
    if (failed_) return std::nullopt;
    return value;
  }

 private:
  [[nodiscard]] bool spells(std::string_view text) const {
    for (std::size_t number = 0; number < text.size(); ++number) {
      if (at_ + number >= tokens_.size() || !tokens_[at_ + number].is(text.substr(number, 1))) return false;
      if (number > 0 && tokens_[at_ + number].space_before) return false;
    }
    return true;
  }

  bool accept(std::string_view text) {
    if (!spells(text)) return false;
    at_ += text.size();
    return true;
  }

  std::int64_t fail() {
    failed_ = true;
    return 0;
  }

  std::int64_t ternary(bool counts) {
    if (++depth_ > max_condition_depth) return fail();
    std::int64_t value = binary(1, counts);
    if (!failed_ && accept("?")) {
      const std::int64_t yes = ternary(counts && value != 0);
      if (!accept(":")) return fail();
      const std::int64_t no = ternary(counts && value == 0);
      value = value != 0 ? yes : no;
    }
    --depth_;
    return value;
  }

  /// `counts` is false in parts whose value does not matter, such as b in `0 && b`.
  std::int64_t binary(int least, bool counts) {
    std::int64_t left = unary(counts);
    while (!failed_) {
      const binary_operator* found = nullptr;
      for (const binary_operator& candidate : binary_operators) {
        if (spells(candidate.text)) {
          found = &candidate;
          break;
        }
      }
      if (found == nullptr || found->precedence < least) return left;
      at_ += found->text.size();
      const bool decided = (found->text == "||" && left != 0) || (found->text == "&&" && left == 0);
      const std::int64_t right = binary(found->precedence + 1, counts && !decided);
      left = apply(found->text, left, right, counts);
    }
    return left;
  }

  std::int64_t apply(std::string_view op, std::int64_t left, std::int64_t right, bool counts) {
    if (op == "||") return left != 0 || right != 0;
    if (op == "&&") return left != 0 && right != 0;
    if (op == "==") return left == right;
    if (op == "!=") return left != right;
    if (op == "<=") return left <= right;
    if (op == ">=") return left >= right;
    if (op == "<") return left < right;
    if (op == ">") return left > right;
    if (op == "|") return left | right;
    if (op == "^") return left ^ right;
    if (op == "&") return left & right;
    if (op == "<<") return wrapped(bits(left) << (bits(right) & 63));
    if (op == ">>") return left >> (bits(right) & 63);
    if (op == "+") return wrapped(bits(left) + bits(right));
    if (op == "-") return wrapped(bits(left) - bits(right));
    if (op == "*") return wrapped(bits(left) * bits(right));
    if (right == 0) return counts ? fail() : 0;
    if (right == -1) return op == "/" ? wrapped(0 - bits(left)) : 0;
    return op == "/" ? left / right : left % right;
  }

  std::int64_t unary(bool counts) {
    if (++depth_ > max_condition_depth) return fail();
    std::int64_t value = 0;
    if (accept("!")) {
      value = unary(counts) == 0;
    } else if (accept("-")) {
      value = wrapped(0 - bits(unary(counts)));
    } else if (accept("~")) {
      value = ~unary(counts);
    } else if (accept("+")) {
      value = unary(counts);
    } else if (accept("(")) {
      value = ternary(counts);
      if (!accept(")")) return fail();
    } else {
      value = operand();
    }
    --depth_;
    return value;
  }

  std::int64_t operand() {
    if (at_ >= tokens_.size()) return fail();
    const macro_token& token = tokens_[at_++];
    if (token.what == macro_token::kind::identifier) return token.text == "__LINE__" ? line_ : 0;
    if (token.what == macro_token::kind::character) {
      const auto value = value_of_character(token.text);
      return value ? *value : fail();
    }
    if (token.what != macro_token::kind::number) return fail();
    std::string_view digits = token.text;
    while (digits.size() > 1 && std::string_view("uUlL").find(digits.back()) != std::string_view::npos) {
      digits.remove_suffix(1);
    }
    int base = 10;
    if (digits.starts_with("0x") || digits.starts_with("0X")) {
      base = 16;
    } else if (digits.starts_with("0b") || digits.starts_with("0B")) {
      base = 2;
    } else if (digits.size() > 1 && digits.front() == '0') {
      base = 8;
    }
    if (base == 16 || base == 2) digits.remove_prefix(2);
    std::uint64_t value = 0;
    const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (fault != std::errc() || end != digits.data() + digits.size()) return fail();
    return wrapped(value);
  }

  const std::vector<macro_token>& tokens_;
  std::uint32_t line_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool failed_ = false;
};

/// Replaces `defined X` and `defined(X)` by 1 or 0; returns false for a malformed expression.
bool apply_defined(const std::vector<macro_token>& tokens, const macro_table& macros,
                   std::vector<macro_token>& result) {
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    if (tokens[at].what != macro_token::kind::identifier || tokens[at].text != "defined") {
      result.push_back(tokens[at]);
      continue;
    }
    const bool parenthesis = at + 1 < tokens.size() && tokens[at + 1].is("(");
    const std::size_t name = at + (parenthesis ? 2 : 1);
    const std::size_t last = name + (parenthesis ? 1 : 0);
    if (last >= tokens.size() || tokens[name].what != macro_token::kind::identifier) return false;
    if (parenthesis && !tokens[last].is(")")) return false;
    result.push_back(
        {macro_token::kind::number, macros.is_defined(tokens[name].text) ? "1" : "0", tokens[at].space_before, false});
    at = last;
  }
  return true;
}

}  // namespace

std::optional<std::int64_t> evaluate_condition(const std::vector<macro_token>& tokens, macro_table& macros,
                                               std::uint32_t line, const macro_table::error_function& error) {
  std::vector<macro_token> resolved;
  std::optional<std::int64_t> value;
  if (apply_defined(tokens, macros, resolved)) {
    resolved = macros.expand_all(resolved, error);
    value = evaluator(resolved, line).run();
  }
  if (!value) error("malformed condition after #if");
  return value;
}

}  // namespace gpulog::syntax
