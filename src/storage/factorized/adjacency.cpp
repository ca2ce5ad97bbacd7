#include "storage/factorized/adjacency.hpp"

#include "storage/factorized/counting_sort.hpp"

namespace gpulog::storage {

adjacency make_adjacency(const backend::piece_runner& workers, backend::memory_resource& resource,
                         const std::uint32_t* keys, const word* values, std::uint64_t pairs, std::uint64_t numbers) {
  adjacency made{{}, backend::array<word>(resource)};
  made.first = counting_sort(
      workers, resource, static_cast<std::uint32_t>(pairs), numbers,
      [&](std::uint32_t i) { return keys[i] < numbers ? keys[i] : no_key; },
      [&](std::uint64_t all) { made.all = backend::array<word>(resource, all, backend::fresh_memory::anything); },
      [&](std::uint32_t i, std::uint32_t place) { made.all[place] = values[i]; });
  return made;
}

}  // namespace gpulog::storage
