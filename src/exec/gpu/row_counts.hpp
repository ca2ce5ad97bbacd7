#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/join/pipeline.hpp"

/// Rows per operator of a pipeline on a device, from the regular reports of kernels.
namespace gpulog::exec {

/// Counts the rows produced by a segment's expansion and the rows left after its steps.
/// @param left nothing if unknown
inline void count_rows(const kernels::pipeline& program, std::size_t number, std::uint64_t given,
                       std::optional<std::uint64_t> left = std::nullopt) {
  if (program.counted == nullptr) return;
  kernels::step_counts& counted = *program.counted;
  const std::uint32_t entered = counted.place_of_expansion(number, !program.segments[number].choices.empty());
  const std::uint32_t last = counted.last_place(number);
  counted.counts[entered] += given;
  if (left && last != entered) counted.counts[last] += *left;
}

/// Counts a finished run.
inline void count_run(const kernels::pipeline& program) {
  if (program.counted != nullptr) ++program.counted->runs;
}

}  // namespace gpulog::exec
