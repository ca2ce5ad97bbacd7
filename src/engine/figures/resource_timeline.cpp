#include "engine/figures/resource_timeline.hpp"

#include <unistd.h>

#include <cstdio>
#include <ctime>

#include "storage/relation/relation.hpp"

namespace gpulog::detail {

double processor_seconds() {
  constexpr double nanosecond = 1e-9;
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * nanosecond;
}

namespace {

/// Returns the resident memory of the process; 0 if unknown.
std::uint64_t resident_bytes() {
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  unsigned long all = 0;
  unsigned long resident = 0;
  const int read = std::fscanf(file, "%lu %lu", &all, &resident);
  std::fclose(file);
  return read == 2 ? resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

}  // namespace

resource_timeline::resource_timeline(double zero, const backend::memory_resource& memory)
    : zero_(zero), memory_(memory), thread_([this](const std::stop_token& cancelled) { run(cancelled); }) {}

resource_sample resource_timeline::take() const {
  return {storage::seconds_now() - zero_, processor_seconds(), resident_bytes(), memory_.used()};
}

std::vector<resource_sample> resource_timeline::samples() const {
  const std::lock_guard lock(guard_);
  std::vector<resource_sample> result = samples_;
  result.push_back(take());
  return result;
}

void resource_timeline::run(const std::stop_token& cancelled) {
  std::unique_lock lock(guard_);
  while (!cancelled.stop_requested()) {
    if (samples_.size() == most_samples) {
      for (std::size_t i = 0; i < most_samples / 2; ++i) samples_[i] = samples_[2 * i];
      samples_.resize(most_samples / 2);
      interval_ *= 2;
    }
    samples_.push_back(take());
    changed_.wait_for(lock, cancelled, interval_, [] { return false; });
  }
}

}  // namespace gpulog::detail
