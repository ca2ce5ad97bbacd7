#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/join/pipeline.hpp"
#include "storage/sets/equivalence.hpp"

/// Reads an equivalence relation in tiles, computing the pairs on the fly.
namespace gpulog::kernels {

[[nodiscard]] inline bool reads_old(row_part part) { return part != row_part::delta; }
[[nodiscard]] inline bool reads_delta(row_part part) { return part != row_part::old; }

/// Reads rows [begin, begin + n) of a scan (rows_of) into the registers of its bindings.
/// @param register_of returns where to store a binding's first value
template <class RegisterOf>
void read_equivalence(const storage::equivalence& source, const segment& scan, std::uint64_t begin, std::uint32_t n,
                      const RegisterOf& register_of) {
  for (const binding& bound : scan.bindings) {
    word* const to = register_of(bound);
    if (scan.scanned == scan_kind::elements) {
      std::copy_n(source.values() + begin, n, to);
      continue;
    }
    if (scan.scanned == scan_kind::changed_elements) {
      source.read_changed_elements(begin, n, to);
      continue;
    }
    source.read_pairs(reads_old(scan.part), reads_delta(scan.part), begin, n, bound.column == 0 ? to : nullptr,
                      bound.column == 1 ? to : nullptr);
  }
}

/// Reads rows rows[0..n) of a scan; rows of the same binding are consecutive.
template <class RegisterOf>
void gather_equivalence(const storage::equivalence& source, const segment& scan, const std::uint64_t* rows,
                        std::uint32_t n, const RegisterOf& register_of) {
  for (std::uint32_t begin = 0, end = 0; begin < n; begin = end) {
    end = begin + 1;
    while (end < n && rows[end] == rows[end - 1] + 1) ++end;
    read_equivalence(source, scan, rows[begin], end - begin,
                     [&](const binding& bound) { return register_of(bound) + begin; });
  }
}

/// Returns the places of the pairs that match one or two keys.
[[nodiscard]] inline storage::place_ranges find_pairs(const storage::equivalence& source, row_part part,
                                                      const word* first, const word* second, std::uint32_t i) {
  if (second == nullptr) return source.partners(first[i], reads_old(part), reads_delta(part));
  const bool found = source.is_pair(first[i], second[i], reads_old(part), reads_delta(part));
  return {storage::place_range{0, found ? 1U : 0U}, storage::place_range{}};  // the places are only counted, never read
}

}  // namespace gpulog::kernels
