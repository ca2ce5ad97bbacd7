#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "io/formats/arrow/arrow_interface.hpp"

namespace gpulog::io {

/// How a column of an Arrow table stores its values. Other types are refused.
enum class arrow_type {
  unsupported,
  boolean,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float32,
  float64,
  text,       ///< UTF-8 or bytes, with 32-bit offsets
  long_text,  ///< with 64-bit offsets
  text_view,  ///< with entries of 16 bytes, which contain short texts
};

/// Parses a format string of the interface, such as "l" for int64.
[[nodiscard]] arrow_type arrow_type_of(std::string_view format);

/// The kind of value: a text, an integer, and so on.
using arrow_value = std::variant<std::monostate, std::int64_t, std::uint64_t, double, std::string_view>;

/// The values of a column in a batch of rows.
class arrow_column {
 public:
  /// @param first the array's row for row 0 of the batch, without the array's own offset
  arrow_column(const ArrowSchema& schema, const ArrowArray& array, std::int64_t first);

  /// monostate: null. The memory of a text belongs to the batch.
  [[nodiscard]] arrow_value at(std::uint64_t row) const;
  /// All values, if the column stores this type and has no nulls; else nullptr.
  template <class Number>
  [[nodiscard]] const Number* all(arrow_type type) const {
    if (type_ != type || array_->dictionary != nullptr || array_->null_count != 0) return nullptr;
    return static_cast<const Number*>(array_->buffers[1]) + first_;
  }

 private:
  arrow_type type_;             ///< of the indexes if the column has a dictionary
  arrow_type dictionary_type_;  ///< unsupported: no dictionary
  const ArrowArray* array_;
  std::int64_t first_;
};

}  // namespace gpulog::io
