#pragma once

#include <cstdint>
#include <optional>

#include "storage/symbols/wide_values.hpp"
#include "support/ids.hpp"

/// Words of columns from numbers of files that hold numbers, not texts. Nothing: not a value of the kind.
/// wide: nullptr where words have 32 bits.
namespace gpulog::io {

[[nodiscard]] std::optional<word> integer_word(std::int64_t value, value_kind kind, storage::wide_values* wide);
[[nodiscard]] std::optional<word> integer_word(std::uint64_t value, value_kind kind, storage::wide_values* wide);
/// A real number that is a whole one serves as an integer, as in JSON.
[[nodiscard]] std::optional<word> integer_word(double value, value_kind kind, storage::wide_values* wide);

/// For attributes of floats. There is one zero: rows are told apart by their bits.
[[nodiscard]] std::optional<word> float_word(double value, storage::wide_values* wide);

}  // namespace gpulog::io
