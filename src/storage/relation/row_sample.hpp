#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "storage/sets/hash.hpp"
#include "support/ids.hpp"

namespace gpulog::storage {

/// One array per column.
using sampled_rows = std::vector<std::vector<word>>;

/// Selects the sample of a relation: the rows with the lowest hash values. The selection depends neither on the order
/// of rows nor on the machine.
class row_sample {
 public:
  /// @param wanted approximate sample size; smaller relations are sampled completely
  row_sample(std::uint64_t rows, std::uint64_t wanted)
      : limit_(rows <= wanted ? UINT64_MAX
                              : static_cast<std::uint64_t>(
                                    std::ldexp(static_cast<double>(wanted) / static_cast<double>(rows), 64))) {}

  [[nodiscard]] GPULOG_HOST_DEVICE bool takes(const word* const* columns, std::uint32_t arity,
                                              std::uint64_t row) const {
    if (limit_ == UINT64_MAX) return true;
    std::uint64_t state = 0;
    for (std::uint32_t column = 0; column < arity; ++column) state = add(state, columns[column][row]);
    return mix(state) < limit_;
  }
  /// Like takes(), for a known arity and an incomplete sample.
  template <std::uint32_t Arity>
  [[nodiscard]] bool takes_some(const std::array<const word*, Arity>& columns, std::uint64_t row) const {
    std::uint64_t state = 0;
    for (std::uint32_t column = 0; column < Arity; ++column) state = add(state, columns[column][row]);
    return mix(state) < limit_;
  }

 private:
  /// A rotation between two multiplications: equal words in two columns do not cancel out.
  [[nodiscard]] static GPULOG_HOST_DEVICE std::uint64_t add(std::uint64_t state, word value) {
    state = (state ^ value) * 0x9e3779b97f4a7c15ULL;
    return (state << 29) | (state >> 35);
  }

  std::uint64_t limit_;
};

/// The columns to sample.
struct sampled_columns {
  std::vector<const word*> columns;
  std::uint64_t rows = 0;
};

/// @param columns columns on the host
[[nodiscard]] sampled_rows sample_rows(const std::vector<const word*>& columns, std::uint64_t rows,
                                       std::uint64_t wanted);

}  // namespace gpulog::storage
