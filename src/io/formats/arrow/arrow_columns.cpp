#include "io/formats/arrow/arrow_columns.hpp"

#include <cstring>
#include <utility>

namespace gpulog::io {
namespace {

bool bit_of(const void* bits, std::int64_t place) {
  return ((static_cast<const std::uint8_t*>(bits)[place >> 3] >> (place & 7)) & 1) != 0;
}

template <class End>
std::string_view text_between(const ArrowArray& array, std::int64_t place) {
  const End* const ends = static_cast<const End*>(array.buffers[1]);
  const auto size = static_cast<std::size_t>(ends[place + 1] - ends[place]);
  // An empty column may have no buffer.
  return size == 0 ? std::string_view()
                   : std::string_view(static_cast<const char*>(array.buffers[2]) + ends[place], size);
}

template <class Number>
Number number_at(const ArrowArray& array, std::int64_t place) {
  return static_cast<const Number*>(array.buffers[1])[place];
}

std::string_view viewed_text(const ArrowArray& array, std::int64_t place) {
  // The size; then a text of at most 12 bytes, or the first 4 bytes of a longer text, its buffer and its offset.
  constexpr std::int32_t view_bytes = 16;
  constexpr std::int32_t most_inside = 12;
  const char* const view = static_cast<const char*>(array.buffers[1]) + place * view_bytes;
  std::int32_t parts[4];
  std::memcpy(parts, view, sizeof parts);
  const auto size = static_cast<std::size_t>(parts[0]);
  if (parts[0] <= most_inside) return {view + sizeof(std::int32_t), size};
  return {static_cast<const char*>(array.buffers[2 + parts[2]]) + parts[3], size};
}

arrow_value stored_value(const ArrowArray& array, arrow_type type, std::int64_t place) {
  if (array.null_count != 0 && array.buffers[0] != nullptr && !bit_of(array.buffers[0], place)) return {};
  switch (type) {
    case arrow_type::boolean:
      return std::int64_t{bit_of(array.buffers[1], place)};
    case arrow_type::int8:
      return std::int64_t{number_at<std::int8_t>(array, place)};
    case arrow_type::uint8:
      return std::int64_t{number_at<std::uint8_t>(array, place)};
    case arrow_type::int16:
      return std::int64_t{number_at<std::int16_t>(array, place)};
    case arrow_type::uint16:
      return std::int64_t{number_at<std::uint16_t>(array, place)};
    case arrow_type::int32:
      return std::int64_t{number_at<std::int32_t>(array, place)};
    case arrow_type::uint32:
      return std::int64_t{number_at<std::uint32_t>(array, place)};
    case arrow_type::int64:
      return number_at<std::int64_t>(array, place);
    case arrow_type::uint64:
      return number_at<std::uint64_t>(array, place);
    case arrow_type::float32:
      return double{number_at<float>(array, place)};
    case arrow_type::float64:
      return number_at<double>(array, place);
    case arrow_type::text:
      return text_between<std::int32_t>(array, place);
    case arrow_type::long_text:
      return text_between<std::int64_t>(array, place);
    case arrow_type::text_view:
      return viewed_text(array, place);
    case arrow_type::unsupported:
      break;
  }
  return {};
}

}  // namespace

arrow_type arrow_type_of(std::string_view format) {
  static constexpr std::pair<std::string_view, arrow_type> known[] = {
      {"b", arrow_type::boolean},    {"c", arrow_type::int8},       {"C", arrow_type::uint8},
      {"s", arrow_type::int16},      {"S", arrow_type::uint16},     {"i", arrow_type::int32},
      {"I", arrow_type::uint32},     {"l", arrow_type::int64},      {"L", arrow_type::uint64},
      {"f", arrow_type::float32},    {"g", arrow_type::float64},    {"u", arrow_type::text},
      {"z", arrow_type::text},       {"U", arrow_type::long_text},  {"Z", arrow_type::long_text},
      {"vu", arrow_type::text_view}, {"vz", arrow_type::text_view},
  };
  for (const auto& [name, type] : known) {
    if (name == format) return type;
  }
  return arrow_type::unsupported;
}

arrow_column::arrow_column(const ArrowSchema& schema, const ArrowArray& array, std::int64_t first)
    : type_(arrow_type_of(schema.format)),
      dictionary_type_(schema.dictionary == nullptr ? arrow_type::unsupported
                                                    : arrow_type_of(schema.dictionary->format)),
      array_(&array),
      first_(first + array.offset) {}

arrow_value arrow_column::at(std::uint64_t row) const {
  const arrow_value value = stored_value(*array_, type_, first_ + static_cast<std::int64_t>(row));
  if (array_->dictionary == nullptr || std::holds_alternative<std::monostate>(value)) return value;
  const auto* const index = std::get_if<std::int64_t>(&value);
  const std::int64_t entry = index != nullptr ? *index : static_cast<std::int64_t>(std::get<std::uint64_t>(value));
  return stored_value(*array_->dictionary, dictionary_type_, entry + array_->dictionary->offset);
}

}  // namespace gpulog::io
