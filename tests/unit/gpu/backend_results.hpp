#pragma once

#include <cstdint>
#include <vector>

namespace gpulog::backend {

/// Results of each operation of backend/primitives.hpp on the same random words.
struct backend_results {
  std::vector<std::uint64_t> visited;
  std::vector<std::uint64_t> visited_by_tiles;
  std::uint64_t sum = 0;
  std::vector<std::uint64_t> scanned;
  std::uint64_t total = 0;
  std::vector<std::uint64_t> sorted;
  std::vector<std::uint64_t> merged;
  std::vector<std::uint64_t> selected;
  std::vector<std::uint64_t> gathered;
  std::vector<std::uint64_t> filled;
  std::vector<std::uint64_t> copied;
};

/// @param n number of words
/// @param first_bit, last_bit range of bits to sort by
[[nodiscard]] backend_results results_on_host(std::uint64_t n, unsigned first_bit, unsigned last_bit);
[[nodiscard]] backend_results results_on_device(std::uint64_t n, unsigned first_bit, unsigned last_bit);

}  // namespace gpulog::backend
