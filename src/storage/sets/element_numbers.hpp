#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "backend/array.hpp"
#include "storage/sets/hash.hpp"

namespace gpulog::storage {

/// A hash table from values to their numbers: open addressing, a slot holds value and number. A single worker at a time
/// may insert while any number of workers look up values; growing requires all workers to be idle.
class element_numbers {
 public:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  /// All numbers are smaller.
  static constexpr std::uint64_t most = none;

  explicit element_numbers(backend::memory_resource& resource) : slots_(resource) {}

  [[nodiscard]] std::uint64_t bytes() const { return slots_.bytes(); }

  void prefetch(word value) const {
    if (slots_.size() != 0) __builtin_prefetch(slots_.data() + home(value));
  }

  /// Returns `none` if the value has no number.
  [[nodiscard]] std::uint32_t find(word value) const {
    if (slots_.size() == 0) return none;
    const std::uint64_t* const slots = slots_.data();
    for (std::uint64_t at = home(value);; at = next(at)) {
      const std::uint64_t slot = __atomic_load_n(slots + at, __ATOMIC_ACQUIRE);
      if (slot == 0) return none;
      if (static_cast<word>(slot >> 32) == value) return static_cast<std::uint32_t>(slot) - 1;
    }
  }

  /// Inserts a value that has no number yet. All earlier writes are visible to readers of the number.
  void insert(word value, std::uint32_t number) {
    std::uint64_t* const slots = slots_.data();
    std::uint64_t at = home(value);
    while (__atomic_load_n(slots + at, __ATOMIC_RELAXED) != 0) at = next(at);
    __atomic_store_n(slots + at, pack(value, number + 1), __ATOMIC_RELEASE);
  }

  /// Makes room for this number of values in total.
  /// @throws memory_exceeded; the table is then unchanged
  void grow(std::uint64_t values) {
    constexpr std::uint64_t initial_slots = 1024;
    std::uint64_t slots = std::max(initial_slots, slots_.size());
    while (slots / 2 < values) slots *= 2;
    if (slots == slots_.size()) return;
    backend::array<std::uint64_t> old(slots_.resource(), slots);
    old.swap(slots_);
    for (const std::uint64_t slot : old) {
      if (slot == 0) continue;
      std::uint64_t at = home(static_cast<word>(slot >> 32));
      while (slots_[at] != 0) at = next(at);
      slots_[at] = slot;
    }
  }

 private:
  [[nodiscard]] std::uint64_t home(word value) const { return scale(mix(value + 1ULL), slots_.size()); }
  [[nodiscard]] std::uint64_t next(std::uint64_t at) const { return at + 1 == slots_.size() ? 0 : at + 1; }

  backend::array<std::uint64_t> slots_;  // value in the upper half, number + 1 in the lower half; 0: free
};

}  // namespace gpulog::storage
