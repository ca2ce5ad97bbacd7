#include "kernels/steps/steps.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <optional>
#include <unordered_map>

#include "kernels/steps/host_steps.hpp"
#include "kernels/steps/text_pattern.hpp"
#include "kernels/steps/word_operations.hpp"

namespace gpulog::kernels {

namespace {

template <scalar_op Op, class Word>
void compute_each(const Word* a, const Word* b, std::uint32_t n, Word* result) {
  for (std::uint32_t i = 0; i < n; ++i) result[i] = apply<Op>(a[i], b[i]);
}

template <comparison_op Op, class Word>
std::uint32_t select_each(const Word* a, const Word* b, std::uint32_t n, std::uint16_t* selected) {
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

// Texts are parsed like in Soufflé, by the C functions: skips leading blanks and anything after the number; a prefix 0x
// or 0b (after an optional minus) sets the base.

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

/// Thrown if a text does not start with a number, or if the number is too large.
struct no_number {};

/// Returns the start of a text for a message, without control characters.
std::string shown(std::string_view text) {
  constexpr std::size_t longest_shown = 200;
  std::string result(text.substr(0, longest_shown));
  std::replace_if(
      result.begin(), result.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
  return result + (text.size() > longest_shown ? "..." : "");
}

template <class Word>
Word number_of_text(const std::string& text) {
  using limits = std::numeric_limits<number_of<Word>>;
  const digits read = digits_of(text);
  char* end = nullptr;
  errno = 0;
  const long long value = std::strtoll(read.text.c_str(), &end, read.base);
  const bool fits = value >= limits::min() && value <= limits::max();
  if (end == read.text.c_str() || errno == ERANGE || !fits) throw no_number{};
  return static_cast<Word>(value);
}

template <class Word>
Word unsigned_of_text(const std::string& text) {
  if (text.starts_with('-')) throw no_number{};
  const digits read = digits_of(text);
  char* end = nullptr;
  errno = 0;
  const unsigned long long value = std::strtoull(read.text.c_str(), &end, read.base);
  if (end == read.text.c_str() || errno == ERANGE) throw no_number{};
  return static_cast<Word>(value);
}

template <class Word>
Word float_of_text(const std::string& text) {
  char* end = nullptr;
  errno = 0;
  float_of<Word> value;
  if constexpr (sizeof(Word) == 4) {
    value = std::strtof(text.c_str(), &end);
  } else {
    value = std::strtod(text.c_str(), &end);
  }
  if (end == text.c_str() || errno == ERANGE) throw no_number{};
  return from_float(value);
}

/// Conversions between texts and numbers of either size.
/// @param value a number
template <class Word>
word text_of_value(scalar_op op, Word value, storage::symbol_table& symbols) {
  switch (op) {
    case scalar_op::number_to_string:
      return symbols.intern(std::to_string(as_number(value)));
    case scalar_op::unsigned_to_string:
      return symbols.intern(std::to_string(value));
    default:
      return symbols.intern(std::to_string(as_float(value)));
  }
}

template <class Word>
Word value_of_text(scalar_op op, const std::string& text) {
  const char* functor = "to_float";
  try {
    switch (op) {
      case scalar_op::string_to_number:
        functor = "to_number";
        return number_of_text<Word>(text);
      case scalar_op::string_to_unsigned:
        functor = "to_unsigned";
        return unsigned_of_text<Word>(text);
      default:
        return float_of_text<Word>(text);
    }
  } catch (const no_number&) {
    throw rule_fault(std::string("wrong string provided by `") + functor + "(\"" + shown(text) +
                     "\")` functor: " + arithmetic_exception);
  }
}

/// Checks the length before the copy: doubling a text 32 times would copy gigabytes for an error.
word concatenation(const std::vector<const word*>& parts, std::uint32_t row, storage::symbol_table& symbols) {
  std::uint64_t bytes = 0;
  for (const word* const part : parts) bytes += symbols.text(part[row]).size();
  return symbols.intern_assembled(bytes, [&](char* to) {
    for (const word* const part : parts) {
      const std::string_view text = symbols.text(part[row]);
      to = std::copy(text.begin(), text.end(), to);
    }
  });
}

/// Patterns are mostly constants, so each worker caches compiled patterns.
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

namespace {

template <class Word>
void compute_tile_of(scalar_op op, const Word* a, const Word* b, std::uint32_t n, Word* result) {
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
      break;  // compute_text_tile handles text operations
  }
}

}  // namespace

void compute_tile(scalar_op op, const std::uint32_t* a, const std::uint32_t* b, std::uint32_t n,
                  std::uint32_t* result) {
  compute_tile_of(op, a, b, n, result);
}
void compute_tile(scalar_op op, const std::uint64_t* a, const std::uint64_t* b, std::uint32_t n,
                  std::uint64_t* result) {
  compute_tile_of(op, a, b, n, result);
}

void compute_text_tile(scalar_op op, const std::vector<const word*>& arguments, std::uint32_t n, word* result,
                       storage::symbol_table& symbols, part_finder& parts, storage::wide_values* wide) {
  const auto number = [&](std::size_t argument, std::uint32_t i) -> std::int64_t {
    const word stored = arguments[argument][i];
    return wide == nullptr ? std::int64_t{as_number(stored)} : as_number(wide->value(stored));
  };
  const auto text = [&](std::size_t argument, std::uint32_t i) { return symbols.text(arguments[argument][i]); };
  for (std::uint32_t i = 0; i < n; ++i) {
    switch (op) {
      case scalar_op::min_symbol:
        result[i] = text(1, i) < text(0, i) ? arguments[1][i] : arguments[0][i];
        break;
      case scalar_op::max_symbol:
        result[i] = text(0, i) < text(1, i) ? arguments[1][i] : arguments[0][i];
        break;
      case scalar_op::concatenate:
        result[i] = concatenation(arguments, i, symbols);
        break;
      case scalar_op::string_length:
        result[i] = static_cast<word>(text(0, i).size());
        break;
      case scalar_op::substring:
        result[i] = symbols.intern(substring_of(text(0, i), number(1, i), number(2, i)));
        break;
      case scalar_op::starts_with:
        result[i] = text(0, i).starts_with(text(1, i)) ? 1 : 0;
        break;
      case scalar_op::ends_with:
        result[i] = text(0, i).ends_with(text(1, i)) ? 1 : 0;
        break;
      case scalar_op::index_of: {
        const std::int64_t index = index_of_part(text(0, i), text(1, i), number(2, i));
        result[i] = storage::word_of(static_cast<wide_word>(index), wide);
        break;
      }
      case scalar_op::replace_text:
        result[i] = symbols.intern(replaced(text(0, i), text(1, i), text(2, i)));
        break;
      case scalar_op::to_lower:
        result[i] = symbols.intern(in_lower_case(text(0, i)));
        break;
      case scalar_op::to_upper:
        result[i] = symbols.intern(in_upper_case(text(0, i)));
        break;
      case scalar_op::trim:
        result[i] = symbols.intern(trimmed(text(0, i)));
        break;
      case scalar_op::part_count:
        result[i] = storage::word_of(static_cast<wide_word>(count_parts(text(0, i), text(1, i))), wide);
        break;
      case scalar_op::part_of:
        result[i] = symbols.intern(parts.part(text(0, i), text(1, i), number(2, i)));
        break;
      case scalar_op::number_to_string:
      case scalar_op::unsigned_to_string:
      case scalar_op::float_to_string: {
        const word stored = arguments[0][i];
        result[i] =
            wide == nullptr ? text_of_value(op, stored, symbols) : text_of_value(op, wide->value(stored), symbols);
        break;
      }
      case scalar_op::string_to_number:
      case scalar_op::string_to_unsigned:
      case scalar_op::string_to_float: {
        const std::string read(text(0, i));
        result[i] = wide == nullptr ? value_of_text<std::uint32_t>(op, read)
                                    : wide->code(value_of_text<std::uint64_t>(op, read));
        break;
      }
      default:
        throw arithmetic_fault{};
    }
  }
}

namespace {

/// @param op not a comparison of texts
template <class Word>
std::uint32_t select_words(comparison_op op, const Word* a, const Word* b, std::uint32_t n, std::uint16_t* selected) {
  switch (op) {
#define GPULOG_CASE(name)   \
  case comparison_op::name: \
    return select_each<comparison_op::name>(a, b, n, selected);
    GPULOG_FOR_EACH_WORD_COMPARISON(GPULOG_CASE)
#undef GPULOG_CASE
    default:
      return 0;
  }
}

std::uint32_t select_texts(comparison_op op, const word* a, const word* b, std::uint32_t n,
                           const storage::symbol_table* symbols, std::uint16_t* selected) {
  const auto text = [&](word id) { return symbols->text(id); };
  switch (op) {
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
        const text_pattern::outcome found = current->match(text(b[i]));
        if (found == text_pattern::outcome::too_complex) {
          throw rule_fault("match(\"" + shown(text(compiled)) + "\", ...) is too complex for a text of " +
                           std::to_string(text(b[i]).size()) + " bytes");
        }
        return found == wanted;
      });
    }
    default:
      return 0;
  }
}

}  // namespace

std::uint32_t select_tile(comparison_op op, const word* a, const word* b, std::uint32_t n,
                          const storage::symbol_table* symbols, std::uint16_t* selected) {
  if (needs_host(op)) return select_texts(op, a, b, n, symbols, selected);
  return select_words(op, a, b, n, selected);
}

std::uint32_t select_tile(comparison_op op, const std::uint64_t* a, const std::uint64_t* b, std::uint32_t n,
                          std::uint16_t* selected) {
  return select_words(op, a, b, n, selected);
}

}  // namespace gpulog::kernels
