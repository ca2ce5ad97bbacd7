#pragma once

#include <atomic>
#include <cstdint>

/// Policies of how a table is written to: by a worker who is alone, or by any number of them at a time.
namespace gpulog::storage {

struct exclusive_access {
  static constexpr bool is_concurrent = false;
  [[nodiscard]] static std::uint64_t load(const std::uint64_t& place) { return place; }
  /// Writes `value` where `seen` stands. @return false: another worker has written there, and `seen` is what
  template <class Slot>
  static bool replace(Slot& place, Slot&, Slot value) {
    place = value;
    return true;
  }
  /// The same; who reads the value sees what was written before it.
  template <class Slot>
  static bool publish(Slot& place, Slot& seen, Slot value) {
    return replace(place, seen, value);
  }
  /// @return whether it was not set
  static bool set_bit(std::uint64_t& place, std::uint64_t bit) {
    const bool is_new = (place & bit) == 0;
    place |= bit;
    return is_new;
  }
  /// Bits that were not in `seen`, which stood there. @return those that nobody else has set since
  static std::uint64_t add_bits(std::uint64_t& place, std::uint64_t seen, std::uint64_t bits) {
    place = seen | bits;
    return bits;
  }
  /// @return what it was
  static std::uint64_t add(std::atomic<std::uint64_t>& counter, std::uint64_t more) {
    const std::uint64_t before = counter.load(std::memory_order_relaxed);
    counter.store(before + more, std::memory_order_relaxed);
    return before;
  }
};

struct concurrent_access {
  static constexpr bool is_concurrent = true;
  [[nodiscard]] static std::uint64_t load(const std::uint64_t& place) {
    return __atomic_load_n(&place, __ATOMIC_RELAXED);
  }
  template <class Slot>
  static bool replace(Slot& place, Slot& seen, Slot value) {
    return __atomic_compare_exchange_n(&place, &seen, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  }
  template <class Slot>
  static bool publish(Slot& place, Slot& seen, Slot value) {
    return __atomic_compare_exchange_n(&place, &seen, value, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE);
  }
  static bool set_bit(std::uint64_t& place, std::uint64_t bit) {
    // Most candidates are duplicates, and an atomic operation on a line that others read costs much more.
    return (load(place) & bit) == 0 && (__atomic_fetch_or(&place, bit, __ATOMIC_RELAXED) & bit) == 0;
  }
  static std::uint64_t add_bits(std::uint64_t& place, std::uint64_t, std::uint64_t bits) {
    return bits & ~__atomic_fetch_or(&place, bits, __ATOMIC_RELAXED);
  }
  static std::uint64_t add(std::atomic<std::uint64_t>& counter, std::uint64_t more) {
    return counter.fetch_add(more, std::memory_order_relaxed);
  }
};

}  // namespace gpulog::storage
