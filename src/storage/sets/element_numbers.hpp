#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "backend/array.hpp"
#include "storage/sets/hash.hpp"

namespace gpulog::storage {

/// From a value to its number: open addressing, the slot is value and number. One worker at a time may insert, while
/// any number of them look values up; growing needs them all to be elsewhere.
class element_numbers {
 public:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  /// Numbers are below this.
  static constexpr std::uint64_t most = none;

  explicit element_numbers(backend::memory_resource& resource) : slots_(resource) {}

  [[nodiscard]] std::uint64_t bytes() const { return slots_.bytes(); }

  void prefetch(word value) const {
    if (slots_.size() != 0) __builtin_prefetch(slots_.data() + home(value));
  }

  /// none when the value has no number.
  [[nodiscard]] std::uint32_t find(word value) const {
    if (slots_.size() == 0) return none;
    const std::uint64_t* const slots = slots_.data();
    for (std::uint64_t at = home(value);; at = next(at)) {
      const std::uint64_t slot = __atomic_load_n(slots + at, __ATOMIC_ACQUIRE);
      if (slot == 0) return none;
      if (static_cast<word>(slot >> 32) == value) return static_cast<std::uint32_t>(slot) - 1;
    }
  }

  /// The value has no number yet. What was written before can be read by whoever finds the number.
  void insert(word value, std::uint32_t number) {
    std::uint64_t* const slots = slots_.data();
    std::uint64_t at = home(value);
    while (__atomic_load_n(slots + at, __ATOMIC_RELAXED) != 0) at = next(at);
    __atomic_store_n(slots + at, pack(value, number + 1), __ATOMIC_RELEASE);
  }

  /// Makes room for that many values in all. @throws memory_exceeded, the table unchanged
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

  backend::array<std::uint64_t> slots_;  // value in the high half, number + 1 in the low half; 0: free
};

}  // namespace gpulog::storage
