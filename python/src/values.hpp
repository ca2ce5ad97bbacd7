#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <string_view>

/// Single values of Python, read by the type that they are to have.
namespace gpulog_python {

namespace nb = nanobind;

enum class reading : std::uint8_t { done, of_another_type, out_of_range };

/// Integers of Python and of NumPy, but neither floats nor truth values.
[[nodiscard]] reading read_number(nb::handle value, std::int64_t& into);
[[nodiscard]] reading read_unsigned(nb::handle value, std::uint64_t& into);
[[nodiscard]] reading read_float(nb::handle value, double& into);
/// Appends a text, or bytes as they are. What came out as bytes that are no text goes in again.
[[nodiscard]] reading read_text(nb::handle value, std::string& into);

/// As repr has it, but not too long.
[[nodiscard]] std::string text_of(nb::handle object);

/// A text of gpulog. Bytes that are no UTF-8 become surrogate escapes.
[[nodiscard]] nb::object decoded(std::string_view text);

}  // namespace gpulog_python
