#pragma once

#include <cstdint>

namespace gpulog::storage {

/// The runs of an index that grows, on every machine: an elder run is merged with a younger one unless it has at least
/// so many times its rows. So the sizes of runs fall geometrically, and a row is merged a logarithmic number of times.
/// A larger factor merges more often and leaves fewer runs to search. To measure another
/// one, build bench/micro/bench_indexes.cpp with it.
inline constexpr std::uint64_t merge_factor = 3;

}  // namespace gpulog::storage
