#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "gpulog/arrow.hpp"

/// Reads Arrow arrays from outside the library.
namespace gpulog::detail {

/// A range of the values of an Arrow array.
struct array_range {
  const ArrowArray& array;
  std::int64_t first;  ///< includes the offsets of all enclosing arrays
  std::int64_t length;
};

template <class T>
const T* buffer(const ArrowArray& array, std::int64_t number) {
  return static_cast<const T*>(array.buffers[number]);
}

inline bool has_value(const ArrowArray& array, std::int64_t place) {
  const auto* const bits = array.n_buffers > 0 ? buffer<std::uint8_t>(array, 0) : nullptr;
  return array.null_count == 0 || bits == nullptr || ((bits[place / 8] >> (place % 8)) & 1) != 0;
}

/// Returns the position of the first null, relative to the start of the range.
inline std::optional<std::int64_t> first_null(const array_range& range) {
  for (std::int64_t row = 0; range.array.null_count != 0 && row < range.length; ++row) {
    if (!has_value(range.array, range.first + row)) return row;
  }
  return std::nullopt;
}

enum class text_layout : std::uint8_t { none, small_offsets, large_offsets, views };

inline text_layout layout_of(std::string_view format) {
  if (format == "u" || format == "z") return text_layout::small_offsets;
  if (format == "U" || format == "Z") return text_layout::large_offsets;
  return format == "vu" || format == "vz" ? text_layout::views : text_layout::none;
}

template <class Offset>
std::string_view text_between(const ArrowArray& array, std::int64_t place) {
  const auto* const offsets = buffer<Offset>(array, 1);
  return {buffer<char>(array, 2) + offsets[place], static_cast<std::size_t>(offsets[place + 1] - offsets[place])};
}

/// Reads a string view: its length and either the whole text, or a prefix, the number of a buffer and the position in
/// the buffer.
inline std::string_view viewed_text(const ArrowArray& array, std::int64_t place) {
  constexpr std::int32_t longest_inside = 12;
  const char* const view = buffer<char>(array, 1) + 16 * place;
  std::int32_t parts[4];
  std::memcpy(parts, view, sizeof parts);
  const auto length = static_cast<std::size_t>(parts[0]);
  if (parts[0] <= longest_inside) return {view + sizeof(std::int32_t), length};
  return {buffer<char>(array, 2 + parts[2]) + parts[3], length};
}

inline std::string_view text_at(const ArrowArray& array, text_layout layout, std::int64_t place) {
  if (layout == text_layout::small_offsets) return text_between<std::int32_t>(array, place);
  if (layout == text_layout::large_offsets) return text_between<std::int64_t>(array, place);
  return viewed_text(array, place);
}

/// Calls visit with a typed pointer to the first value of the range.
/// @return whether the format is a format of numbers
template <class Visit>
bool visit_numbers(std::string_view format, const array_range& range, const Visit& visit) {
  const auto with = [&]<class T>(T) {
    const T* const values = buffer<T>(range.array, 1);
    visit(values == nullptr ? values : values + range.first);
    return true;
  };
  if (format.size() != 1) return false;
  switch (format[0]) {
    case 'c':
      return with(std::int8_t{});
    case 'C':
      return with(std::uint8_t{});
    case 's':
      return with(std::int16_t{});
    case 'S':
      return with(std::uint16_t{});
    case 'i':
      return with(std::int32_t{});
    case 'I':
      return with(std::uint32_t{});
    case 'l':
      return with(std::int64_t{});
    case 'L':
      return with(std::uint64_t{});
    case 'f':
      return with(float{});
    case 'g':
      return with(double{});
    default:
      return false;
  }
}

/// Returns a readable name of a format, for messages.
inline std::string name_of_format(const ArrowSchema& schema) {
  const std::string_view format = schema.format;
  if (schema.dictionary != nullptr) return "a dictionary of " + name_of_format(*schema.dictionary);
  if (layout_of(format) != text_layout::none) return "texts";
  if (format == "f" || format == "g" || format == "e") return "floats";
  if (format == "n") return "nulls";
  if (format == "b") return "booleans";
  if (format.size() == 1) return "integers";
  if (format.starts_with("td") || format.starts_with("ts") || format.starts_with("tt")) return "dates or times";
  if (format.starts_with("d:")) return "decimals";
  return "values of Arrow's format " + std::string(format);
}

}  // namespace gpulog::detail
