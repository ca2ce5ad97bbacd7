#include "storage/sets/word_set.hpp"

#include <algorithm>
#include <vector>

#include "storage/calibration.hpp"

namespace gpulog::storage {

double tuples_per_word(const word* const* values, std::uint64_t n, const bit_matrix_shape& shape) {
  const std::uint64_t stride = packed_word::stride(shape);
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t row = 0; row < n; ++row) {
    const word last = values[shape.is_unary ? 0 : 1][row];
    const std::uint64_t number = (shape.is_unary ? 0 : values[0][row] * stride) + last / packed_word::bits;
    if (mix(number) % calibration::sampled_word_share == 0) numbers.push_back(number);
  }
  if (numbers.empty()) return 1;
  const auto tuples = static_cast<double>(numbers.size());
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return tuples / static_cast<double>(numbers.size());
}

}  // namespace gpulog::storage
