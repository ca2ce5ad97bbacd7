#pragma once

#include <cstdint>
#include <vector>

#include "backend/array.hpp"
#include "support/ids.hpp"

namespace gpulog::detail {

/// Rows of a relation between their file (or insert) and the executor, which drops repeated ones.
struct staged_rows {
  std::vector<backend::array<word>> columns;  ///< one for each attribute
  std::uint64_t rows = 0;                     ///< of a nullary relation: how often its tuple was given
};

/// By relation, blocks in the order they were given.
using staged_facts = std::vector<std::vector<staged_rows>>;

}  // namespace gpulog::detail
