#pragma once

#include <cstdint>

namespace gpulog::storage {

/// The runs of an index that grows, on every machine: an elder run is merged with a younger one unless it has at least
/// so many times its rows. So the sizes of runs fall geometrically, and a row is merged a logarithmic number of times.
/// A larger factor merges more often and leaves fewer runs to search. To measure another
/// one, build bench/micro/bench_indexes.cpp with it.
inline constexpr std::uint64_t merge_factor = 3;

/// HISA as published merges delta with full in each iteration. That copies full, so fewer rows than this wait in runs
/// of their own: an iteration of few tuples costs what it finds, not what is there. Chosen, not measured: 1,024 to
/// 16,384 were not compared. bench/results/first-matches.txt has what it brings.
inline constexpr std::uint64_t few_rows = 4096;

/// Of an elder and a younger run of HISA: whether they stay apart.
[[nodiscard]] constexpr bool stays_apart(std::uint64_t elder, std::uint64_t younger) {
  return younger < few_rows && elder >= merge_factor * younger;
}

}  // namespace gpulog::storage
