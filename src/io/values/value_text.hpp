#pragma once

#include <string_view>

#include "io/values/number_text.hpp"
#include "storage/symbols/wide_values.hpp"
#include "support/ids.hpp"

/// Converts words to and from text, for number kinds. wide: nullptr for 32-bit words.
namespace gpulog::io {

/// Returns false for a text that is not a value of the kind. All floating-point zeros become +0: rows are compared by
/// their bits.
[[nodiscard]] bool parse_value(std::string_view text, value_kind kind, storage::wide_values* wide, word& value);

/// Writes at most longest_number bytes and returns the end.
char* print_value(char* to, word value, value_kind kind, const storage::wide_values* wide);

/// Returns the value of a float attribute.
[[nodiscard]] double real_value(word value, const storage::wide_values* wide);

}  // namespace gpulog::io
