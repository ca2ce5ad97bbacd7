#include "io/row_formatter.hpp"

#include <algorithm>
#include <cstring>

#include "support/error.hpp"

namespace gpulog::io {

void check_kinds(const relation_rows& rows) {
  for (const value_kind kind : rows.kinds) {
    ensure(!is_structured(kind) || rows.structured.records != nullptr, "records are written from a table");
  }
}

void byte_buffer::grow(std::size_t bytes) {
  constexpr std::size_t smallest = 4096;
  const std::size_t capacity = std::max({smallest, 2 * capacity_, size_ + bytes});
  auto larger = std::make_unique_for_overwrite<char[]>(capacity);
  if (size_ > 0) std::memcpy(larger.get(), memory_.get(), size_);
  memory_ = std::move(larger);
  capacity_ = capacity;
}

void byte_buffer::append(std::string_view bytes) {
  if (bytes.empty()) return;
  std::memcpy(reserve(bytes.size()), bytes.data(), bytes.size());
  size_ += bytes.size();
}

}  // namespace gpulog::io
