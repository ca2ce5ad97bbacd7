#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "backend/array.hpp"
#include "storage/sets/hash.hpp"

namespace gpulog::storage {

/// When a table grows, and by how much.
struct table_growth {
  static constexpr std::uint64_t initial_slots = 1024;
  /// Linear probing stays short up to here.
  static constexpr double max_load = 0.625;  ///< five slots of a line of eight: few lines are full

  [[nodiscard]] static std::uint64_t next(std::uint64_t slots) { return slots * 2; }
  [[nodiscard]] static std::uint64_t limit(std::uint64_t slots) {
    return static_cast<std::uint64_t>(static_cast<double>(slots) * max_load);
  }
};

/// How far ahead of the probe a slot is fetched: enough misses under way to hide most of the memory's latency.
constexpr std::uint32_t prefetch_distance = 16;

/// A table of 8-byte slots with linear probing, in which 0 marks a free one. KeyOf::key(slot) is what a slot's place
/// depends on.
template <class KeyOf>
class slot_table {
 public:
  explicit slot_table(backend::memory_resource& resource, std::uint64_t slots = table_growth::initial_slots)
      : slots_(resource) {
    slots_.resize(slots);
    set_capacity(slots);
  }

  /// Slots in use.
  [[nodiscard]] std::uint64_t size() const { return count_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool has_room(std::uint64_t extra) const { return size() + extra <= limit_; }
  [[nodiscard]] std::uint64_t bytes() const { return slots_.bytes(); }

  /// Makes room for that many more. Nobody may use the table meanwhile; it may take that many threads of its own, since
  /// those that would insert are waiting. @throws memory_exceeded, the table unchanged
  void grow(std::uint64_t extra, unsigned threads = 1) {
    std::uint64_t capacity = capacity_;
    while (table_growth::limit(capacity) < size() + extra) capacity = table_growth::next(capacity);
    if (capacity == capacity_) return;
    backend::array<std::uint64_t> old(slots_.resource());
    backend::array<std::uint64_t> larger(slots_.resource(), capacity);
    old.swap(slots_);
    slots_.swap(larger);
    const std::uint64_t old_size = capacity_;
    set_capacity(capacity);
    constexpr std::uint64_t slots_per_thread = 1u << 20;  // starting a thread costs as much as some ten thousand slots
    const std::uint64_t parts = std::clamp<std::uint64_t>(old_size / slots_per_thread, 1, threads);
    if (parts == 1) {
      move_slots<false>(old, 0, old_size);
      return;
    }
    const auto bound = [old_size, parts](std::uint64_t part) { return old_size / line * part / parts * line; };
    std::vector<std::thread> helpers;
    for (std::uint64_t part = 1; part < parts; ++part) {
      helpers.emplace_back([&, part] { move_slots<true>(old, bound(part), bound(part + 1)); });
    }
    move_slots<true>(old, 0, bound(1));
    for (std::thread& helper : helpers) helper.join();
  }

 protected:
  /// Slots of a cache line, which a probe looks at together before it goes on to the next line. (Linear probing from
  /// slot to slot leaves the line in nearly every second probe at this load, and waits for memory again.)
  static constexpr std::uint64_t line = 8;

  /// The first slot of the key's line.
  [[nodiscard]] std::uint64_t home(std::uint64_t key) const { return scale(mix(key), lines_) * line; }
  [[nodiscard]] std::uint64_t capacity() const { return capacity_; }
  [[nodiscard]] std::uint64_t* slots() { return slots_.data(); }
  [[nodiscard]] const std::uint64_t* slots() const { return slots_.data(); }

  template <bool Concurrent>
  void add_count(std::uint64_t fresh) {
    if constexpr (Concurrent) {
      count_.fetch_add(fresh, std::memory_order_relaxed);
    } else {
      count_.store(count_.load(std::memory_order_relaxed) + fresh, std::memory_order_relaxed);
    }
  }

 private:
  void set_capacity(std::uint64_t capacity) {
    capacity_ = capacity;
    lines_ = capacity / line;
    limit_ = table_growth::limit(capacity);
  }

  /// Inserts what stands in slots [begin, end) of the smaller table. The hash is monotone in the slot, so the sweep
  /// streams through both tables; it frees the old one behind itself, so that both are never whole at a time.
  template <bool Concurrent>
  void move_slots(backend::array<std::uint64_t>& old, std::uint64_t begin, std::uint64_t end) {
    constexpr std::uint64_t stride = 1u << 18;
    constexpr std::uint64_t batch = 512;
    std::uint64_t kept[batch];
    for (; begin < end; begin += stride) {
      const std::uint64_t stop = std::min(end, begin + stride);
      for (std::uint64_t i = begin; i < stop; i += batch) {
        std::uint64_t count = 0;
        for (std::uint64_t k = i; k < std::min(stop, i + batch); ++k) {
          kept[count] = old[k];
          count += old[k] != 0 ? 1 : 0;
        }
        for (std::uint64_t k = 0; k < count; ++k) place<Concurrent>(home(KeyOf::key(kept[k])), kept[k]);
      }
      old.resource().discard(old.data() + begin, (stop - begin) * sizeof(std::uint64_t));
    }
  }

  /// Puts in a slot whose key is not there. Slot by slot: the line has just been written, and a wide load would wait
  /// for those stores.
  template <bool Concurrent>
  void place(std::uint64_t at, std::uint64_t value) {
    while (true) {
      std::uint64_t free = __atomic_load_n(&slots_[at], __ATOMIC_RELAXED);
      if (free == 0) {
        if constexpr (!Concurrent) {
          slots_[at] = value;
          return;
        } else if (__atomic_compare_exchange_n(&slots_[at], &free, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
          return;
        }
      }
      at = at + 1 == capacity_ ? 0 : at + 1;
    }
  }

  backend::array<std::uint64_t> slots_;
  std::uint64_t capacity_ = 0;  // a multiple of a line
  std::uint64_t lines_ = 0;
  std::uint64_t limit_ = 0;
  std::atomic<std::uint64_t> count_{0};
};

}  // namespace gpulog::storage
