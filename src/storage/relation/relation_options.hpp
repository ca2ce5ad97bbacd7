#pragma once

#include <cstdint>

namespace gpulog::storage {

class wide_values;

/// Capacities of buffers that a merge fills. The paper's eager buffer management (section 5.3) reserves room for full +
/// k x delta instead of the exact size and keeps the previous merge's buffer for the next merge.
struct buffer_policy {
  bool eager = true;
  double factor = 8.0;  ///< k

  [[nodiscard]] std::uint64_t capacity(std::uint64_t full, std::uint64_t delta) const {
    return eager ? full + static_cast<std::uint64_t>(factor * static_cast<double>(delta)) : full + delta;
  }
};

/// Selects the tuple set and the indexes of a relation (docs/internals/storage.md).
enum class storage_mode : std::uint8_t { hash, hisa };

/// Selects the tuple set of a relation in `hash` mode if its values allow a choice. bits and words: whenever possible,
/// for experiments.
enum class set_choice : std::uint8_t { automatic, hash, bits, words };

/// Returns the maximum size in bytes of a bit matrix that replaces a hash set.
/// @param memory limit for all relations in bytes, of which `used` are in use
[[nodiscard]] inline std::uint64_t largest_matrix(set_choice chosen, std::uint64_t memory, std::uint64_t used) {
  const std::uint64_t share = chosen == set_choice::automatic ? 4 : 2;
  return used < memory ? (memory - used) / share : 0;
}

struct relation_options {
  storage_mode mode = storage_mode::hash;
  buffer_policy buffers;
  /// `hisa` mode: candidates are sorted and deduplicated when this many are collected, or at the end of a phase.
  std::uint64_t candidate_rows = 8u << 20;
  unsigned workers = 1;
  set_choice sets = set_choice::automatic;  ///< `hash` mode
  const wide_values* wide = nullptr;        ///< for 64-bit programs: values that determine a choice among tuples
};

/// Times of the paper's phases that a relation in `hisa` mode runs on its own, in seconds.
struct phase_times {
  double populate_delta = 0;  ///< sort, unique, set difference
  double merge = 0;           ///< full with delta
};

}  // namespace gpulog::storage
