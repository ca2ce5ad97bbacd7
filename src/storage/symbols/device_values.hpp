#pragma once

#include "support/ids.hpp"

namespace gpulog::storage::gpu {

/// A value for each row of a table of bindings, in 32-bit columns.
struct value_column {
  const word* lower = nullptr;  ///< null: all rows have the constant
  const word* upper = nullptr;  ///< null: the lower column holds codes, otherwise the columns hold the halves of values
  word constant = 0;            ///< a code
};

}  // namespace gpulog::storage::gpu
