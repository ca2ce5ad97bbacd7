#include "storage/relation/row_sample.hpp"

namespace gpulog::storage {

sampled_rows sample_rows(const std::vector<const word*>& columns, std::uint64_t rows, std::uint64_t wanted) {
  const row_sample chosen(rows, wanted);
  const auto arity = static_cast<std::uint32_t>(columns.size());
  sampled_rows sampled(columns.size());
  for (std::uint64_t row = 0; row < rows; ++row) {
    if (!chosen.takes(columns.data(), arity, row)) continue;
    for (std::uint32_t column = 0; column < arity; ++column) sampled[column].push_back(columns[column][row]);
  }
  return sampled;
}

}  // namespace gpulog::storage
