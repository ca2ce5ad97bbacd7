#include "storage/relation.hpp"

#include <algorithm>
#include <numeric>

#include "storage/wide_values.hpp"

namespace gpulog::storage {

void relation::sort_values(const std::vector<std::uint32_t>& by, std::uint64_t begin, std::uint64_t end,
                           array<std::uint32_t>& sorted) const {
  sorted.resize(end - begin);
  std::iota(sorted.data(), sorted.data() + sorted.size(), 0U);
  const auto number = [this, begin](std::uint32_t column, std::uint32_t row) {
    return static_cast<std::int64_t>(options_.wide->value(columns_[column][begin + row]));
  };
  std::sort(sorted.data(), sorted.data() + sorted.size(), [&](std::uint32_t a, std::uint32_t b) {
    for (const std::uint32_t column : by) {
      const std::int64_t first = number(column, a);
      const std::int64_t second = number(column, b);
      if (first != second) return first < second;
    }
    return a < b;
  });
}

}  // namespace gpulog::storage
