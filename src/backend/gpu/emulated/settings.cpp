#include "backend/gpu/emulated/settings.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <utility>

namespace gpulog::backend::gpu::emulated {

namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  if (text == nullptr || *text == '\0') return otherwise;
  constexpr int decimal = 10;
  return std::strtoull(text, nullptr, decimal);
}

std::atomic<std::uint64_t>& seed_in_use() {
  static std::atomic<std::uint64_t> in_use(from_environment("GPULOG_EMULATED_SEED", 1));
  return in_use;
}

std::atomic<std::uint64_t> chances{0};

barrier_place barrier_of_environment() {
  const char* const text = std::getenv("GPULOG_EMULATED_REMOVED_BARRIER");
  if (text == nullptr) return {};
  const std::string place = text;
  const std::size_t colon = place.rfind(':');
  if (colon == std::string::npos) return {};
  return {place.substr(0, colon), std::atoi(place.c_str() + colon + 1)};
}

barrier_place& removed_barrier_in_use() {
  static barrier_place in_use = barrier_of_environment();
  return in_use;
}

}  // namespace

std::uint64_t seed() { return seed_in_use().load(std::memory_order_relaxed); }

void set_seed(std::uint64_t seed) {
  seed_in_use() = seed;
  chances = 0;
}

const barrier_place& removed_barrier() { return removed_barrier_in_use(); }
void set_removed_barrier(barrier_place removed) { removed_barrier_in_use() = std::move(removed); }

unsigned multiprocessors() {
  constexpr std::uint64_t usual = 4;
  constexpr std::uint64_t most = 64;
  static const auto found = static_cast<unsigned>(
      std::clamp<std::uint64_t>(from_environment("GPULOG_EMULATED_MULTIPROCESSORS", usual), 1, most));
  return found;
}

std::uint64_t memory_bytes() {
  constexpr std::uint64_t usual = std::uint64_t{4} << 30;
  constexpr std::uint64_t most = std::uint64_t{1} << 40;
  static const std::uint64_t found = std::min(from_environment("GPULOG_EMULATED_MEMORY", usual), most);
  return found;
}

bool by_chance() {
  const std::uint64_t number = chances.fetch_add(1, std::memory_order_relaxed);
  return seed() != 0 && (mixed(seed() ^ mixed(number)) & 1) != 0;
}

}  // namespace gpulog::backend::gpu::emulated
