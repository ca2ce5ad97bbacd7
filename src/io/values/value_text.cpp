#include "io/values/value_text.hpp"

#include <bit>
#include <cstdint>
#include <type_traits>

namespace gpulog::io {
namespace {

template <class Word>
using floating_of = std::conditional_t<sizeof(Word) == 4, float, double>;

template <class Word>
bool parse_value_of(std::string_view text, value_kind kind, Word& value) {
  if (kind == value_kind::number) {
    std::make_signed_t<Word> number = 0;
    if (!parse_number(text, number)) return false;
    value = static_cast<Word>(number);
    return true;
  }
  if (kind == value_kind::unsigned_number) return parse_unsigned(text, value);
  floating_of<Word> number = 0;
  if (!parse_floating(text, number)) return false;
  if (number == 0) number = 0;
  value = std::bit_cast<Word>(number);
  return true;
}

template <class Word>
char* print_value_of(char* to, Word value, value_kind kind) {
  if (kind == value_kind::number) return print_number(to, static_cast<std::make_signed_t<Word>>(value));
  if (kind == value_kind::unsigned_number) return print_number(to, value);
  return print_number(to, std::bit_cast<floating_of<Word>>(value));
}

}  // namespace

bool parse_value(std::string_view text, value_kind kind, storage::wide_values* wide, word& value) {
  if (wide == nullptr) return parse_value_of(text, kind, value);
  std::uint64_t parsed = 0;
  if (!parse_value_of(text, kind, parsed)) return false;
  value = wide->code(parsed);
  return true;
}

char* print_value(char* to, word value, value_kind kind, const storage::wide_values* wide) {
  return wide == nullptr ? print_value_of(to, value, kind) : print_value_of(to, wide->value(value), kind);
}

double real_value(word value, const storage::wide_values* wide) {
  if (wide == nullptr) return double{std::bit_cast<float>(value)};
  return std::bit_cast<double>(wide->value(value));
}

}  // namespace gpulog::io
