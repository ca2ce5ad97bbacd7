#pragma once

#include <atomic>
#include <cstdint>

#include "backend/array.hpp"
#include "exec/calibration.hpp"
#include "kernels/join/pipeline.hpp"

/// Work of a device that falls apart into parts, searches or rows, whose results stand side by side, and of which
/// nobody knows before how many there will be. A sample runs first; room is made for what it tells; parts that find no
/// room run again.
namespace gpulog::exec {

/// @throws kernels::interrupted
inline void check_stop(const std::atomic<bool>* stop) {
  if (stop != nullptr && stop->load(std::memory_order_relaxed)) throw kernels::interrupted{};
}

/// Results of all parts, with a margin. @param found by the sample
[[nodiscard]] inline double expected_results(std::uint64_t found, std::uint64_t sampled, std::uint64_t parts) {
  return calibration::sample_margin * static_cast<double>(found) / static_cast<double>(sampled) *
         static_cast<double>(parts);
}

/// Numbers of parts that found no room; kernels append to them.
class missing_parts {
 public:
  /// @param parts of which all may be missing
  missing_parts(backend::memory_resource& resource, std::uint64_t parts)
      : resource_(&resource), numbers_(resource, parts, backend::fresh_memory::anything) {}

  [[nodiscard]] std::uint32_t* data() { return numbers_.data(); }
  /// Begins another list. @return the numbers so far
  [[nodiscard]] backend::array<std::uint32_t> take() {
    backend::array<std::uint32_t> taken(*resource_, numbers_.size(), backend::fresh_memory::anything);
    taken.swap(numbers_);
    return taken;
  }

 private:
  backend::memory_resource* resource_;
  backend::array<std::uint32_t> numbers_;
};

/// Runs parts that found no room once more, until all have.
template <class Parts>
void run_missing(Parts& parts, const std::atomic<bool>* stop) {
  while (parts.missing() != 0) {
    check_stop(stop);
    parts.make_room_for_missing();
    parts.run_missing();
  }
}

/// Runs all parts. Parts has run_sample(n) and run(first, last) of parts by number, make_room_for_all(n) after the
/// sample, size() from then on, and what run_missing() asks for.
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
