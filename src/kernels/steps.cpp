#include "kernels/steps.hpp"

#include <cerrno>
#include <cstdlib>
#include <limits>
#include <unordered_map>

#include "kernels/text_pattern.hpp"
#include "kernels/word_operations.hpp"

namespace gpulog::kernels {

namespace {

template <scalar_op Op>
void compute_each(const word* a, const word* b, std::uint32_t n, word* result) {
  for (std::uint32_t i = 0; i < n; ++i) result[i] = apply<Op>(a[i], b[i]);
}

template <comparison_op Op>
std::uint32_t select_each(const word* a, const word* b, std::uint32_t n, std::uint16_t* selected) {
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    selected[count] = static_cast<std::uint16_t>(i);
    count += holds<Op>(a[i], b[i]) ? 1 : 0;
  }
  return count;
}

template <class Predicate>
std::uint32_t select_where(std::uint32_t n, std::uint16_t* selected, Predicate&& predicate) {
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    if (predicate(i)) selected[count++] = static_cast<std::uint16_t>(i);
  }
  return count;
}

// Texts are read as Soufflé reads them, by the functions of C: blanks in front and anything behind a number are
// skipped, 0x and 0b (with a minus in front of them, if any) say the base.

struct digits {
  std::string text;
  int base = 10;
};

digits digits_of(const std::string& text) {
  const bool negative = text.starts_with('-');
  const std::string_view prefix = std::string_view(text).substr(negative ? 1 : 0, 2);
  if (prefix == "0x") return {text, 16};
  if (prefix == "0b") return {(negative ? "-" : "") + text.substr(negative ? 3 : 2), 2};
  return {text, 10};
}

word number_of_text(const std::string& text) {
  const digits read = digits_of(text);
  char* end = nullptr;
  errno = 0;
  const long long value = std::strtoll(read.text.c_str(), &end, read.base);
  const bool fits =
      value >= std::numeric_limits<signed_word>::min() && value <= std::numeric_limits<signed_word>::max();
  if (end == read.text.c_str() || errno == ERANGE || !fits) throw arithmetic_fault{};
  return static_cast<word>(value);
}

word unsigned_of_text(const std::string& text) {
  if (text.starts_with('-')) throw arithmetic_fault{};
  const digits read = digits_of(text);
  char* end = nullptr;
  errno = 0;
  const unsigned long long value = std::strtoull(read.text.c_str(), &end, read.base);
  if (end == read.text.c_str() || errno == ERANGE) throw arithmetic_fault{};
  return static_cast<word>(value);
}

word float_of_text(const std::string& text) {
  char* end = nullptr;
  errno = 0;
  const float value = std::strtof(text.c_str(), &end);
  if (end == text.c_str() || errno == ERANGE) throw arithmetic_fault{};
  return from_float(value);
}

/// Patterns are mostly constants, so each worker keeps those that it compiled.
class pattern_cache {
 public:
  text_pattern& of(std::string_view pattern) {
    auto found = compiled_.find(std::string(pattern));
    if (found == compiled_.end()) {
      if (compiled_.size() >= most_patterns) compiled_.clear();
      found = compiled_.emplace(std::string(pattern), text_pattern(pattern)).first;
    }
    return found->second;
  }

 private:
  static constexpr std::size_t most_patterns = 256;
  std::unordered_map<std::string, text_pattern> compiled_;
};

}  // namespace

void compute_tile(scalar_op op, const word* a, const word* b, std::uint32_t n, word* result) {
  if (may_fault(op)) {
    for (std::uint32_t i = 0; i < n; ++i) {
      if (divides_badly(op, a[i], b[i])) throw arithmetic_fault{};
    }
  }
  switch (op) {
#define GPULOG_CASE(name) \
  case scalar_op::name:   \
    return compute_each<scalar_op::name>(a, b, n, result);
    GPULOG_FOR_EACH_WORD_OPERATION(GPULOG_CASE)
#undef GPULOG_CASE
    default:
      break;  // text operations go through compute_text_tile
  }
}

bool is_text_operation(scalar_op op) { return op >= scalar_op::min_symbol; }

void compute_text_tile(scalar_op op, const std::vector<const word*>& arguments, std::uint32_t n, word* result,
                       storage::symbol_table& symbols) {
  const auto text = [&](std::size_t argument, std::uint32_t i) { return symbols.text(arguments[argument][i]); };
  for (std::uint32_t i = 0; i < n; ++i) {
    switch (op) {
      case scalar_op::min_symbol:
        result[i] = text(1, i) < text(0, i) ? arguments[1][i] : arguments[0][i];
        break;
      case scalar_op::max_symbol:
        result[i] = text(0, i) < text(1, i) ? arguments[1][i] : arguments[0][i];
        break;
      case scalar_op::concatenate: {
        std::string joined;
        for (std::size_t a = 0; a < arguments.size(); ++a) joined += text(a, i);
        result[i] = symbols.intern(joined);
        break;
      }
      case scalar_op::string_length:
        result[i] = static_cast<word>(text(0, i).size());
        break;
      case scalar_op::substring: {
        // Positions are bytes; as in Soufflé a start outside of the text gives the empty text, and a negative length
        // the rest.
        const std::string_view whole = text(0, i);
        const signed_word start = as_number(arguments[1][i]);
        const signed_word length = as_number(arguments[2][i]);
        if (start < 0 || static_cast<std::size_t>(start) > whole.size()) {
          result[i] = symbols.intern(std::string_view());
        } else {
          const std::size_t most = length < 0 ? std::string_view::npos : static_cast<std::size_t>(length);
          result[i] = symbols.intern(whole.substr(static_cast<std::size_t>(start), most));
        }
        break;
      }
      case scalar_op::number_to_string:
        result[i] = symbols.intern(std::to_string(as_number(arguments[0][i])));
        break;
      case scalar_op::unsigned_to_string:
        result[i] = symbols.intern(std::to_string(arguments[0][i]));
        break;
      case scalar_op::float_to_string:
        result[i] = symbols.intern(std::to_string(as_float(arguments[0][i])));
        break;
      case scalar_op::string_to_number:
        result[i] = number_of_text(std::string(text(0, i)));
        break;
      case scalar_op::string_to_unsigned:
        result[i] = unsigned_of_text(std::string(text(0, i)));
        break;
      case scalar_op::string_to_float:
        result[i] = float_of_text(std::string(text(0, i)));
        break;
      default:
        throw arithmetic_fault{};
    }
  }
}

std::uint32_t select_tile(comparison_op op, const word* a, const word* b, std::uint32_t n,
                          const storage::symbol_table* symbols, std::uint16_t* selected) {
  const auto text = [&](word id) { return symbols->text(id); };
  switch (op) {
#define GPULOG_CASE(name)   \
  case comparison_op::name: \
    return select_each<comparison_op::name>(a, b, n, selected);
    GPULOG_FOR_EACH_WORD_COMPARISON(GPULOG_CASE)
#undef GPULOG_CASE
    case comparison_op::less_symbol:
      return select_where(n, selected, [&](auto i) { return text(a[i]) < text(b[i]); });
    case comparison_op::less_equal_symbol:
      return select_where(n, selected, [&](auto i) { return text(a[i]) <= text(b[i]); });
    case comparison_op::greater_symbol:
      return select_where(n, selected, [&](auto i) { return text(a[i]) > text(b[i]); });
    case comparison_op::greater_equal_symbol:
      return select_where(n, selected, [&](auto i) { return text(a[i]) >= text(b[i]); });
    case comparison_op::contains:
      return select_where(n, selected, [&](auto i) { return text(b[i]).find(text(a[i])) != std::string_view::npos; });
    case comparison_op::not_contains:
      return select_where(n, selected, [&](auto i) { return text(b[i]).find(text(a[i])) == std::string_view::npos; });
    case comparison_op::matches:
    case comparison_op::not_matches: {
      thread_local pattern_cache patterns;
      const auto wanted = op == comparison_op::matches ? text_pattern::outcome::yes : text_pattern::outcome::no;
      text_pattern* current = nullptr;
      word compiled = 0;
      return select_where(n, selected, [&](auto i) {
        if (current == nullptr || a[i] != compiled) {
          compiled = a[i];
          current = &patterns.of(text(compiled));
        }
        return current->match(text(b[i])) == wanted;
      });
    }
  }
  return 0;
}

}  // namespace gpulog::kernels
