#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "kernels/join/pipeline.hpp"

namespace gpulog::exec {

/// A place of a pipeline that bindings reach: after a segment's expansion (0), after the checks of its choices (1), and
/// after each step.
struct step_place {
  std::size_t segment = 0;
  std::size_t step = 0;
};

/// Creates the counts of a pipeline.
/// @param behind_operators by operator of the plan's version: the place after it
/// @param for_device a device does not count at all places
[[nodiscard]] std::shared_ptr<kernels::step_counts> make_step_counts(const kernels::pipeline& program,
                                                                     const std::vector<step_place>& behind_operators,
                                                                     bool for_device);

}  // namespace gpulog::exec
