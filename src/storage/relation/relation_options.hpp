#pragma once

#include <cstdint>

namespace gpulog::storage {

class wide_values;

/// Capacities of buffers that a merge fills. The paper's eager buffer management (section 5.3): room for full + k x
/// delta instead of the exact size, and the buffer of the merge before is kept for the next one.
struct buffer_policy {
  bool eager = true;
  double factor = 8.0;  ///< k

  [[nodiscard]] std::uint64_t capacity(std::uint64_t full, std::uint64_t delta) const {
    return eager ? full + static_cast<std::uint64_t>(factor * static_cast<double>(delta)) : full + delta;
  }
};

/// Which tuple set and which indexes a relation has (docs/internals/storage.md).
enum class storage_mode : std::uint8_t { hash, hisa };

/// Which tuple set a relation in the `hash` way gets where its values allow a choice. bits and words: wherever that is
/// possible, for experiments.
enum class set_choice : std::uint8_t { automatic, hash, bits, words };

/// Bytes of a bit matrix that may take the place of a hash set, at most.
/// @param memory bytes that all relations may take, of which `used` are
[[nodiscard]] inline std::uint64_t largest_matrix(set_choice chosen, std::uint64_t memory, std::uint64_t used) {
  const std::uint64_t share = chosen == set_choice::automatic ? 4 : 2;
  return used < memory ? (memory - used) / share : 0;
}

struct relation_options {
  storage_mode mode = storage_mode::hash;
  buffer_policy buffers;
  /// `hisa` mode: candidates are sorted and deduplicated when this many have been collected, or at the end of a phase.
  std::uint64_t candidate_rows = 8u << 20;
  unsigned workers = 1;
  set_choice sets = set_choice::automatic;  ///< `hash` mode
  const wide_values* wide = nullptr;        ///< of words with 64 bits: for a choice among tuples, which goes by values
};

/// Times of the paper's phases that a relation in `hisa` mode spends on its own, in seconds.
struct phase_times {
  double populate_delta = 0;  ///< sort, unique, set difference
  double merge = 0;           ///< full with delta
};

}  // namespace gpulog::storage
