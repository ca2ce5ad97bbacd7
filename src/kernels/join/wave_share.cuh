#pragma once

#include <cstdint>

#include "backend/gpu/wave.hpp"
#include "kernels/calibration.hpp"

namespace gpulog::kernels::gpu {

using backend::gpu::wave_size;

/// Distributes the positions of ranges over the lanes of a wave. All lanes call these functions, each with a range
/// (count 0 for none). load(position) runs for each position, and then use(is_there, loaded) runs on all lanes of the
/// wave, with AtOnce pending loads per lane.
///
/// share_ranges_of concatenates all ranges and splits them evenly, whatever their lengths. use() also receives the lane
/// that passed the range.
template <unsigned AtOnce, class Load, class Use>
__device__ inline void share_ranges_of(std::uint32_t first, std::uint32_t count, const Load& load, const Use& use) {
  const unsigned lane = backend::gpu::lane();
  const std::uint32_t sum = backend::gpu::inclusive_sum_of_lanes(count);
  const std::uint32_t total = backend::gpu::shuffle(sum, wave_size - 1);
  const std::uint32_t before = sum - count;
  for (std::uint32_t done = 0; done < total; done += wave_size * AtOnce) {
    decltype(load(0U)) loaded[AtOnce];
    unsigned owners[AtOnce];
#pragma unroll
    for (unsigned k = 0; k < AtOnce; ++k) {
      loaded[k] = {};
      owners[k] = 0;
      if (k != 0 && done + k * wave_size >= total) continue;
      const std::uint32_t match = done + k * wave_size + lane;
      // The lane of the position's range: the last lane whose range begins at or before the position.
      unsigned owner = 0;
      for (unsigned half = wave_size / 2; half != 0; half /= 2) {
        const std::uint32_t begin = backend::gpu::shuffle(before, owner + half);
        if (begin <= match) owner += half;
      }
      owners[k] = owner;
      const std::uint32_t owner_first = backend::gpu::shuffle(first, owner);
      const std::uint32_t skipped = backend::gpu::shuffle(before, owner);
      if (match < total) loaded[k] = load(owner_first + (match - skipped));
    }
#pragma unroll
    for (unsigned k = 0; k < AtOnce; ++k) {
      if (k == 0 || done + k * wave_size < total) use(done + k * wave_size + lane < total, loaded[k], owners[k]);
    }
  }
}

template <unsigned AtOnce, class Load, class Use>
__device__ inline void share_ranges(std::uint32_t first, std::uint32_t count, const Load& load, const Use& use) {
  share_ranges_of<AtOnce>(first, count, load,
                          [&](bool is_there, const auto& loaded, unsigned) { use(is_there, loaded); });
}

/// For many long ranges: the wave processes the ranges one at a time, so that no lane has to search for the range of a
/// position.
template <unsigned AtOnce, class Load, class Use>
__device__ inline void share_long_ranges(std::uint32_t first, std::uint32_t count, const Load& load, const Use& use) {
  const unsigned lane = backend::gpu::lane();
  for (backend::gpu::lane_mask left = backend::gpu::ballot(count >= calibration::long_range); left != 0;
       left &= left - 1) {
    const unsigned owner = backend::gpu::lowest_bit(left);
    const std::uint32_t begin = backend::gpu::shuffle(first, owner);
    const std::uint32_t length = backend::gpu::shuffle(count, owner);
    for (std::uint32_t done = lane; done < length + lane; done += wave_size * AtOnce) {
      decltype(load(0U)) loaded[AtOnce];
#pragma unroll
      for (unsigned k = 0; k < AtOnce; ++k) {
        loaded[k] = {};
        if (done + k * wave_size < length) loaded[k] = load(begin + done + k * wave_size);
      }
#pragma unroll
      for (unsigned k = 0; k < AtOnce; ++k) use(done + k * wave_size < length, loaded[k]);
    }
  }
  share_ranges<AtOnce>(first, count >= calibration::long_range ? 0 : count, load, use);
}

}  // namespace gpulog::kernels::gpu
