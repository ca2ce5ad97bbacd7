#pragma once

#include <cstdint>

#include "backend/gpu/host_device.hpp"
#include "support/ids.hpp"

namespace gpulog::storage {

/// Mixes all bits of a key into all bits of the result (two rounds of multiply and shift).
[[nodiscard]] GPULOG_HOST_DEVICE inline std::uint64_t mix(std::uint64_t key) {
  key ^= key >> 32;
  key *= 0xd6e8feb86659fd93ULL;
  key ^= key >> 32;
  key *= 0xd6e8feb86659fd93ULL;
  return key;
}

/// Scales a hash to [0, capacity) by its high bits. Monotone in the hash, so growing a table moves its entries in
/// order: a rehash accesses memory sequentially. Any capacity is possible.
[[nodiscard]] GPULOG_HOST_DEVICE inline std::uint64_t scale(std::uint64_t hash, std::uint64_t capacity) {
  return backend::multiply_high(hash, capacity);
}

[[nodiscard]] GPULOG_HOST_DEVICE inline std::uint64_t pack(word high, word low) {
  return (static_cast<std::uint64_t>(high) << 32) | low;
}

/// The hash of a key of several words, added one after another.
class key_hash {
 public:
  key_hash() = default;
  /// Continues from the value of another hash.
  GPULOG_HOST_DEVICE explicit key_hash(std::uint64_t state) : state_(state) {}
  GPULOG_HOST_DEVICE void add(word value) { add_bits(value); }
  /// Adds two words in the time of one. The hash differs from that of two additions.
  GPULOG_HOST_DEVICE void add(word first, word second) { add_bits(pack(first, second)); }
  [[nodiscard]] GPULOG_HOST_DEVICE std::uint64_t value() const { return state_; }

 private:
  GPULOG_HOST_DEVICE void add_bits(std::uint64_t bits) { state_ = mix(state_ ^ bits) + 0x9e3779b97f4a7c15ULL; }

  std::uint64_t state_ = 0x2545f4914f6cdd1dULL;
};

}  // namespace gpulog::storage
