#include "io/value_text.hpp"

#include <bit>
#include <type_traits>

namespace gpulog::io {
namespace {

using signed_word = std::make_signed_t<word>;
using floating_word = std::conditional_t<sizeof(word) == 4, float, double>;

}  // namespace

bool parse_value(std::string_view text, value_kind kind, word& value) {
  if (kind == value_kind::number) {
    signed_word number = 0;
    if (!parse_number(text, number)) return false;
    value = static_cast<word>(number);
    return true;
  }
  if (kind == value_kind::unsigned_number) return parse_unsigned(text, value);
  floating_word number = 0;
  if (!parse_floating(text, number)) return false;
  if (number == 0) number = 0;
  value = std::bit_cast<word>(number);
  return true;
}

char* print_value(char* to, word value, value_kind kind) {
  if (kind == value_kind::number) return print_number(to, static_cast<signed_word>(value));
  if (kind == value_kind::unsigned_number) return print_number(to, value);
  return print_number(to, std::bit_cast<floating_word>(value));
}

}  // namespace gpulog::io
