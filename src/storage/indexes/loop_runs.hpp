#pragma once

#include <cstdint>

#include "backend/gpu/host_device.hpp"
#include "storage/calibration.hpp"
#include "storage/indexes/run_policy.hpp"

/// Which runs an index has while iterations loop on the device.
namespace gpulog::storage::gpu {

/// Rows [begin, end) of a relation, sorted, in one of the places that an index has for runs.
struct loop_run {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint32_t place = 0;

  [[nodiscard]] GPULOG_HOST_DEVICE std::uint64_t rows() const { return end - begin; }
};

/// As in device_index, runs of old rows whose sizes fall geometrically, and delta apart; only that no run has more than
/// most_rows, and that there is room for few of them. The host takes over where that is not enough.
struct loop_runs {
  static constexpr std::uint32_t most_old = 12;
  /// One more for delta, and one for a run that is made out of others.
  static constexpr std::uint32_t places = most_old + 2;

  loop_run old[most_old];  ///< in the order of rows
  loop_run delta;          ///< empty: it has no place
  std::uint32_t old_count = 0;
  std::uint32_t taken = 0;  ///< a bit a place

  /// What has to be done when delta has become old, and rows [begin, end) are delta.
  struct change {
    bool fits = true;  ///< false: nothing here is right any more
    loop_run built[2];
    std::uint32_t built_count = 0;
    /// The last old run is another one.
    bool has_new_old = false;
  };

  [[nodiscard]] GPULOG_HOST_DEVICE change advance(std::uint64_t begin, std::uint64_t end, std::uint64_t most_rows) {
    change made;
    if (delta.rows() != 0 && !take_in(made, most_rows)) made.fits = false;
    delta = {};
    if (end - begin > most_rows) made.fits = false;
    if (!made.fits || begin == end) return made;
    delta = {begin, end, take_place()};
    made.built[made.built_count++] = delta;
    return made;
  }

 private:
  GPULOG_HOST_DEVICE bool take_in(change& made, std::uint64_t most_rows) {
    loop_run joined = delta;
    const std::uint32_t before = old_count;
    while (old_count != 0) {
      const loop_run& elder = old[old_count - 1];
      if (elder.rows() >= calibration::merge_factor * joined.rows() || joined.end - elder.begin > most_rows) break;
      joined.begin = elder.begin;
      taken &= ~(1U << elder.place);
      --old_count;
    }
    if (old_count == most_old) return false;
    made.has_new_old = true;
    if (old_count != before) {
      // It is made of the rows, not of the older runs: so their places are free.
      taken &= ~(1U << joined.place);
      joined.place = take_place();
      made.built[made.built_count++] = joined;
    }
    old[old_count++] = joined;
    return true;
  }

  GPULOG_HOST_DEVICE std::uint32_t take_place() {
    std::uint32_t place = 0;
    while ((taken >> place & 1) != 0) ++place;
    taken |= 1U << place;
    return place;
  }
};

}  // namespace gpulog::storage::gpu
