#pragma once

#include <cstdint>
#include <numeric>

namespace gpulog::exec {

/// Returns a number coprime to n, near n times the golden ratio: the multiples modulo n are spread evenly.
[[nodiscard]] inline std::uint64_t even_stride(std::uint64_t n) {
  auto stride = static_cast<std::uint64_t>(static_cast<double>(n) * 0.6180339887498949) | 1;
  while (std::gcd(stride, n) != 1) ++stride;
  return stride;
}

}  // namespace gpulog::exec
