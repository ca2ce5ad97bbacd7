#pragma once

#include <atomic>
#include <cstdint>

#include "backend/array.hpp"
#include "exec/calibration.hpp"
#include "kernels/join/pipeline.hpp"

/// Device work in independent parts (searches or rows) whose result count is unknown in advance: a sample sizes the
/// buffers, and parts that overflow run again.
namespace gpulog::exec {

/// @throws kernels::interrupted
inline void check_stop(const std::atomic<bool>* stop) {
  if (stop != nullptr && stop->load(std::memory_order_relaxed)) throw kernels::interrupted{};
}

/// Returns the expected results of all parts, with a margin.
/// @param found results of the sample
[[nodiscard]] inline double expected_results(std::uint64_t found, std::uint64_t sampled, std::uint64_t parts) {
  return calibration::sample_margin * static_cast<double>(found) / static_cast<double>(sampled) *
         static_cast<double>(parts);
}

/// Numbers of the parts that found no space, appended by kernels.
class missing_parts {
 public:
  /// @param parts maximum number of missing parts
  missing_parts(backend::memory_resource& resource, std::uint64_t parts)
      : resource_(&resource), numbers_(resource, parts, backend::fresh_memory::anything) {}

  [[nodiscard]] std::uint32_t* data() { return numbers_.data(); }
  /// Starts a new list.
  /// @return the list so far
  [[nodiscard]] backend::array<std::uint32_t> take() {
    backend::array<std::uint32_t> taken(*resource_, numbers_.size(), backend::fresh_memory::anything);
    taken.swap(numbers_);
    return taken;
  }

 private:
  backend::memory_resource* resource_;
  backend::array<std::uint32_t> numbers_;
};

/// Repeats parts without space until all parts fit.
template <class Parts>
void run_missing(Parts& parts, const std::atomic<bool>* stop) {
  while (parts.missing() != 0) {
    check_stop(stop);
    parts.make_room_for_missing();
    parts.run_missing();
  }
}

/// Runs all parts. `Parts` provides run_sample(n), run(first, last) by part number, make_room_for_all(n) after the
/// sample, size(), valid after the sample, and the functions that run_missing() calls.
template <class Parts>
void run_sampled(Parts& parts, std::uint64_t sample, const std::atomic<bool>* stop) {
  parts.run_sample(sample);
  check_stop(stop);
  const bool is_part = sample < parts.size();
  if (is_part) parts.make_room_for_all(sample);
  run_missing(parts, stop);
  if (!is_part) return;
  parts.run(sample, parts.size());
  run_missing(parts, stop);
}

}  // namespace gpulog::exec
