#pragma once

#include <cstdint>

namespace gpulog::kernels::gpu {

/// The searches of a launch: a list, or a sequence that visits every search once, so evenly that its start is a sample
/// of all.
struct search_sequence {
  const std::uint32_t* listed = nullptr;
  std::uint64_t searches = 0;  ///< total number of searches
  std::uint64_t stride = 1;    ///< coprime to searches
  // Places [first, last) of the list or sequence.
  std::uint64_t first = 0;
  std::uint64_t last = 0;

  [[nodiscard]] __device__ std::uint64_t at(std::uint64_t place) const {
    return listed != nullptr ? listed[place] : place * stride % searches;
  }
};

}  // namespace gpulog::kernels::gpu
