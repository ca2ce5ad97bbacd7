#pragma once

#include <algorithm>
#include <cstdint>

#include "backend/array.hpp"

/// Memory for prefix sums of computed values with one launch (running_sums.cuh).
namespace gpulog::backend::gpu {

/// The sums that a tile of values publishes for later tiles: of its own values, then of all values up to its end.
struct tile_sum {
  std::uint64_t state = 0;  ///< 2 * number of the launch, plus 1 if `up_to_end` is valid
  std::uint64_t own = 0;
  std::uint64_t up_to_end = 0;
};

struct tile_sums {
  tile_sum* tiles = nullptr;
  unsigned long long* tickets = nullptr;
  std::uint64_t first_ticket = 0;  ///< of the launch
  std::uint64_t launch = 0;        ///< not 0
};

/// The memory of launches that follow each other on one stream.
class running_sums {
 public:
  explicit running_sums(memory_resource& resource) : tickets_(resource, 1), tiles_(resource) {}

  /// Returns the memory of the next launch, with room for `tiles` tiles.
  /// @throws memory_exceeded
  [[nodiscard]] tile_sums next_launch(std::uint64_t tiles) {
    if (tiles_.size() < tiles) {
      memory_resource& resource = tiles_.resource();
      tiles_.release();
      tiles_ = array<tile_sum>(resource, std::max(2 * tiles, least_tiles));
    }
    const std::uint64_t first_ticket = taken_;
    taken_ += tiles;
    return {tiles_.data(), tickets_.data(), first_ticket, ++launches_};
  }

 private:
  static constexpr std::uint64_t least_tiles = 1024;

  array<unsigned long long> tickets_;
  array<tile_sum> tiles_;
  std::uint64_t taken_ = 0;
  std::uint64_t launches_ = 0;
};

}  // namespace gpulog::backend::gpu
