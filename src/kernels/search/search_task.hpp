#pragma once

#include <optional>

#include "kernels/search/decomposed_task.hpp"
#include "kernels/search/numbered_task.hpp"

namespace gpulog::kernels {

/// A decomposed fixpoint as searches over numbers. If values serve directly as numbers, indexes of relations are the
/// graph, and numbering is unnecessary.
struct search_task {
  numbered_task numbers;
  std::optional<decomposed_task> values;
};

}  // namespace gpulog::kernels
