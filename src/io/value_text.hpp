#pragma once

#include <string_view>

#include "io/number_text.hpp"
#include "support/ids.hpp"

/// Words to and from text, for the kinds that are numbers.
namespace gpulog::io {

/// False: the text is no value of the kind. There is one floating-point zero, since rows are told apart by their bits.
[[nodiscard]] bool parse_value(std::string_view text, value_kind kind, word& value);

/// Writes at most longest_number bytes and returns the end.
char* print_value(char* to, word value, value_kind kind);

}  // namespace gpulog::io
