#pragma once

#include <cstdint>

namespace gpulog::kernels::cuda {

/// Positions of ranges, which a warp goes through together. All lanes call these functions, each with a range of its
/// own (count: 0 for none); load(position) is called where there is a position, and then use(is_there, loaded) by all
/// lanes of the warp, with AtOnce loads a lane under way.
///
/// Here all ranges are laid end to end and shared evenly, whatever their lengths are. use() gets the lane whose range
/// it is, too.
template <unsigned AtOnce, class Load, class Use>
__device__ inline void share_ranges_of(std::uint32_t first, std::uint32_t count, const Load& load, const Use& use) {
  const unsigned lane = threadIdx.x & 31;
  std::uint32_t sum = count;
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const std::uint32_t other = __shfl_up_sync(0xffffffffU, sum, distance);
    if (lane >= distance) sum += other;
  }
  const std::uint32_t total = __shfl_sync(0xffffffffU, sum, 31);
  const std::uint32_t before = sum - count;
  for (std::uint32_t done = 0; done < total; done += 32 * AtOnce) {
    decltype(load(0U)) loaded[AtOnce];
    unsigned owners[AtOnce];
#pragma unroll
    for (unsigned k = 0; k < AtOnce; ++k) {
      loaded[k] = {};
      owners[k] = 0;
      if (k != 0 && done + k * 32 >= total) continue;
      const std::uint32_t match = done + k * 32 + lane;
      // Whose match it is: the last lane that begins at or before it.
      unsigned owner = 0;
      for (unsigned half = 16; half != 0; half /= 2) {
        const std::uint32_t begin = __shfl_sync(0xffffffffU, before, owner + half);
        if (begin <= match) owner += half;
      }
      owners[k] = owner;
      const std::uint32_t owner_first = __shfl_sync(0xffffffffU, first, owner);
      const std::uint32_t skipped = __shfl_sync(0xffffffffU, before, owner);
      if (match < total) loaded[k] = load(owner_first + (match - skipped));
    }
#pragma unroll
    for (unsigned k = 0; k < AtOnce; ++k) {
      if (k == 0 || done + k * 32 < total) use(done + k * 32 + lane < total, loaded[k], owners[k]);
    }
  }
}

template <unsigned AtOnce, class Load, class Use>
__device__ inline void share_ranges(std::uint32_t first, std::uint32_t count, const Load& load, const Use& use) {
  share_ranges_of<AtOnce>(first, count, load,
                          [&](bool is_there, const auto& loaded, unsigned) { use(is_there, loaded); });
}

/// The same where many ranges are long: those are gone through one after another, so that nobody asks whose a position
/// is.
template <unsigned AtOnce, class Load, class Use>
__device__ inline void share_long_ranges(std::uint32_t first, std::uint32_t count, const Load& load, const Use& use) {
  constexpr std::uint32_t long_range = 48;
  const unsigned lane = threadIdx.x & 31;
  for (unsigned left = __ballot_sync(0xffffffffU, count >= long_range); left != 0; left &= left - 1) {
    const int owner = __ffs(static_cast<int>(left)) - 1;
    const std::uint32_t begin = __shfl_sync(0xffffffffU, first, owner);
    const std::uint32_t length = __shfl_sync(0xffffffffU, count, owner);
    for (std::uint32_t done = lane; done < length + lane; done += 32 * AtOnce) {
      decltype(load(0U)) loaded[AtOnce];
#pragma unroll
      for (unsigned k = 0; k < AtOnce; ++k) {
        loaded[k] = {};
        if (done + k * 32 < length) loaded[k] = load(begin + done + k * 32);
      }
#pragma unroll
      for (unsigned k = 0; k < AtOnce; ++k) use(done + k * 32 < length, loaded[k]);
    }
  }
  share_ranges<AtOnce>(first, count >= long_range ? 0 : count, load, use);
}

}  // namespace gpulog::kernels::cuda
