#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/join/pipeline.hpp"

/// Rows by operator of a pipeline on a device, from what kernels report anyway.
namespace gpulog::exec {

/// What a segment's expansion gave, and what was left behind its steps. @param left nothing: it is not known
inline void count_rows(const kernels::pipeline& program, std::size_t number, std::uint64_t given,
                       std::optional<std::uint64_t> left = std::nullopt) {
  if (program.counted == nullptr) return;
  kernels::step_counts& counted = *program.counted;
  const std::uint32_t entered = counted.place_of_expansion(number, !program.segments[number].choices.empty());
  const std::uint32_t last = counted.last_place(number);
  counted.counts[entered] += given;
  if (left && last != entered) counted.counts[last] += *left;
}

/// A run that was counted has ended.
inline void count_run(const kernels::pipeline& program) {
  if (program.counted != nullptr) ++program.counted->runs;
}

}  // namespace gpulog::exec
