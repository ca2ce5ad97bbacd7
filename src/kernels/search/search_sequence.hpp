#pragma once

#include <cstdint>

namespace gpulog::kernels::gpu {

/// Which searches a launch makes: those listed, or numbers of a sequence that visits each once, so evenly that its
/// beginning is a sample of all.
struct search_sequence {
  const std::uint32_t* listed = nullptr;
  std::uint64_t searches = 0;  ///< that there are
  std::uint64_t stride = 1;    ///< without a common divisor with searches
  // Places [first, last) of the list or of the sequence.
  std::uint64_t first = 0;
  std::uint64_t last = 0;

  [[nodiscard]] __device__ std::uint64_t at(std::uint64_t place) const {
    return listed != nullptr ? listed[place] : place * stride % searches;
  }
};

}  // namespace gpulog::kernels::gpu
