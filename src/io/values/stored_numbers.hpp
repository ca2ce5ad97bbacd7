#pragma once

#include <cstdint>
#include <optional>

#include "storage/symbols/wide_values.hpp"
#include "support/ids.hpp"

/// Conversions from numbers in files to words of columns. Nothing: the number is not a value of the kind.
/// wide: nullptr for words of 32 bits.
namespace gpulog::io {

[[nodiscard]] std::optional<word> integer_word(std::int64_t value, value_kind kind, storage::wide_values* wide);
[[nodiscard]] std::optional<word> integer_word(std::uint64_t value, value_kind kind, storage::wide_values* wide);
/// Accepts a real number that is a whole number, as in JSON.
[[nodiscard]] std::optional<word> integer_word(double value, value_kind kind, storage::wide_values* wide);

/// For attributes of floats. All zeros are stored as +0: rows are compared by their bits.
[[nodiscard]] std::optional<word> float_word(double value, storage::wide_values* wide);

}  // namespace gpulog::io
