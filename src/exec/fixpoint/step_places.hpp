#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "kernels/join/pipeline.hpp"

namespace gpulog::exec {

/// A place of a pipeline that bindings come to: behind a segment's expansion (0), behind the checks of its choices (1),
/// and behind each step.
struct step_place {
  std::size_t segment = 0;
  std::size_t step = 0;
};

/// Counts for a pipeline. @param behind_operators by operator of the plan's version: the place behind it
/// @param for_device which does not count at all places
[[nodiscard]] std::shared_ptr<kernels::step_counts> make_step_counts(const kernels::pipeline& program,
                                                                     const std::vector<step_place>& behind_operators,
                                                                     bool for_device);

}  // namespace gpulog::exec
