#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <string_view>

/// Reads single Python values by their expected type.
namespace gpulog_python {

namespace nb = nanobind;

enum class reading : std::uint8_t { done, of_another_type, out_of_range };

/// Accept integers of Python and NumPy; floats and booleans are not integers.
[[nodiscard]] reading read_number(nb::handle value, std::int64_t& into);
[[nodiscard]] reading read_unsigned(nb::handle value, std::uint64_t& into);
[[nodiscard]] reading read_float(nb::handle value, double& into);
/// Appends a text, or bytes unchanged. Surrogate escapes from decoded() become the original bytes.
[[nodiscard]] reading read_text(nb::handle value, std::string& into);

/// Returns repr(object), shortened.
[[nodiscard]] std::string text_of(nb::handle object);

/// Decodes a text of gpulog. Invalid UTF-8 bytes become surrogate escapes.
[[nodiscard]] nb::object decoded(std::string_view text);

}  // namespace gpulog_python
