#pragma once

#include <atomic>
#include <cstdint>

/// Policies for writing to a table: by a single worker or by concurrent workers.
namespace gpulog::storage {

/// A counter that workers change, in a separate cache line: other workers read the data beside it.
struct alignas(64) shared_counter : std::atomic<std::uint64_t> {
  using std::atomic<std::uint64_t>::atomic;
};

struct exclusive_access {
  static constexpr bool is_concurrent = false;
  [[nodiscard]] static std::uint64_t load(const std::uint64_t& place) { return place; }
  /// Replaces `seen` by `value`.
  /// @return false if another worker has changed the place; `seen` is then the present value
  template <class Slot>
  static bool replace(Slot& place, Slot&, Slot value) {
    place = value;
    return true;
  }
  /// Like replace(); readers of the value also see all earlier writes.
  template <class Slot>
  static bool publish(Slot& place, Slot& seen, Slot value) {
    return replace(place, seen, value);
  }
  /// @return whether the bit was clear
  static bool set_bit(std::uint64_t& place, std::uint64_t bit) {
    const bool is_new = (place & bit) == 0;
    place |= bit;
    return is_new;
  }
  /// Sets bits that are clear in `seen`, the value read before.
  /// @return the bits that no other worker has set meanwhile
  static std::uint64_t add_bits(std::uint64_t& place, std::uint64_t seen, std::uint64_t bits) {
    place = seen | bits;
    return bits;
  }
  /// @return the previous value
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
    // Most candidates are duplicates, and an atomic operation on a shared cache line is much more expensive.
    return (load(place) & bit) == 0 && (__atomic_fetch_or(&place, bit, __ATOMIC_RELAXED) & bit) == 0;
  }
  static std::uint64_t add_bits(std::uint64_t& place, std::uint64_t, std::uint64_t bits) {
    return bits & ~__atomic_fetch_or(&place, bits, __ATOMIC_RELAXED);
  }
  static std::uint64_t add(std::atomic<std::uint64_t>& counter, std::uint64_t more) {
    // Many tiles have no new tuple, and an atomic operation takes the cache line from the other workers.
    if (more == 0) return counter.load(std::memory_order_relaxed);
    return counter.fetch_add(more, std::memory_order_relaxed);
  }
};

}  // namespace gpulog::storage
