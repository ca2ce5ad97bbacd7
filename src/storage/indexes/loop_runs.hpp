#pragma once

#include <cstdint>

#include "backend/gpu/host_device.hpp"
#include "storage/calibration.hpp"
#include "storage/indexes/run_policy.hpp"

/// The runs of an index while iterations loop on the device.
namespace gpulog::storage::gpu {

/// Rows [begin, end) of a relation, sorted, in one of the index's places for runs.
struct loop_run {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint32_t place = 0;

  [[nodiscard]] GPULOG_HOST_DEVICE std::uint64_t rows() const { return end - begin; }
};

/// Like device_index: runs of old rows with geometrically decreasing sizes, and a separate run for delta. In addition,
/// no run has more than most_rows, and only a few places exist. If these limits are exceeded, the host takes over.
struct loop_runs {
  static constexpr std::uint32_t most_old = 12;
  /// An additional place for delta and for a run merged from others.
  static constexpr std::uint32_t places = most_old + 2;

  loop_run old[most_old];  ///< in the order of rows
  loop_run delta;          ///< empty: without a place
  std::uint32_t old_count = 0;
  std::uint32_t taken = 0;  ///< one bit per place

  /// The work required when delta has become old and rows [begin, end) are the new delta.
  struct change {
    bool fits = true;  ///< false: a limit is exceeded and the state is invalid
    loop_run built[2];
    std::uint32_t built_count = 0;
    /// Whether the last old run was replaced.
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
      // The merged run is built from the rows instead of the older runs: therefore their places are free.
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
