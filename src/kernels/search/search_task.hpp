#pragma once

#include <optional>

#include "kernels/search/decomposed_task.hpp"
#include "kernels/search/numbered_task.hpp"

namespace gpulog::kernels {

/// A fixpoint that falls apart into searches, over numbers. Where values are numbers themselves, indexes of relations
/// are its graph, and nothing has to be numbered.
struct search_task {
  numbered_task numbers;
  std::optional<decomposed_task> values;
};

}  // namespace gpulog::kernels
