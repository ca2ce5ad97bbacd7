#pragma once

#include <cstdint>

#include "backend/array.hpp"
#include "backend/piece_runner.hpp"
#include "support/ids.hpp"

namespace gpulog::storage {

/// Lists of numbers, stored contiguously.
struct list_view {
  const std::uint32_t* first;  ///< by list, with one extra entry: start of the list
  const std::uint32_t* all;
};

/// The successors of each number, in the memory of a machine.
struct adjacency {
  backend::array<std::uint32_t> first;  ///< by number, with one extra entry: start of its list
  backend::array<word> all;

  [[nodiscard]] list_view view() const { return {first.data(), all.data()}; }
};

/// Sorts pairs by key on the host. Skips keys that are not below `numbers`.
/// @throws backend::memory_exceeded
[[nodiscard]] adjacency make_adjacency(const backend::piece_runner& workers, backend::memory_resource& resource,
                                       const std::uint32_t* keys, const word* values, std::uint64_t pairs,
                                       std::uint64_t numbers);

}  // namespace gpulog::storage
