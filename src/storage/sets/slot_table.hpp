#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "backend/array.hpp"
#include "backend/piece_runner.hpp"
#include "storage/calibration.hpp"
#include "storage/sets/access.hpp"
#include "storage/sets/hash.hpp"

namespace gpulog::storage {

/// The growth policy of tables.
struct table_growth {
  static constexpr std::uint64_t initial_slots = 1024;
  static constexpr double max_load = 0.625;  ///< five slots in a line of eight: few lines are full
  /// Eleven slots of a line of sixteen: as few lines are full.
  static constexpr double max_load_of_narrow_slots = 0.6875;

  /// Growing large tables by 50 percent would save a fifth of their size for some, but costs 4 to 10 % of CSPA's time.
  [[nodiscard]] static std::uint64_t next(std::uint64_t slots) { return slots * 2; }
  /// @param load of slots that are taken
  [[nodiscard]] static std::uint64_t limit(std::uint64_t slots, double load = max_load) {
    return static_cast<std::uint64_t>(static_cast<double>(slots) * load);
  }
};

/// The prefetch distance in probes: enough concurrent misses to hide most of the memory latency.
constexpr std::uint32_t prefetch_distance = 16;

/// An array of slots in which 0 marks a free slot: the common base of tables.
template <class Slot>
class array_of_slots {
 public:
  /// Returns the number of used slots.
  [[nodiscard]] std::uint64_t size() const { return count_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool has_room(std::uint64_t extra) const { return size() + extra <= limit_; }
  [[nodiscard]] std::uint64_t bytes() const { return slots_.bytes(); }
  template <class Access>
  void add_count(std::uint64_t fresh) {
    Access::add(count_, fresh);
  }

 protected:
  /// Bytes of a smaller table that are freed at a time: a smaller part would divide huge pages.
  static constexpr std::uint64_t freed_bytes = 4u << 20;
  /// Number of slots in a cache line.
  static constexpr std::uint64_t line = 64 / sizeof(Slot);

  array_of_slots(backend::memory_resource& resource, std::uint64_t slots) : slots_(resource) {
    slots_.resize(slots);
    limit_ = limit(slots);
  }
  [[nodiscard]] static std::uint64_t limit(std::uint64_t slots) {
    return table_growth::limit(slots, line > 8 ? table_growth::max_load_of_narrow_slots : table_growth::max_load);
  }
  /// The slots that the table has when there is room for that many more.
  [[nodiscard]] std::uint64_t slots_with_room(std::uint64_t extra) const {
    std::uint64_t capacity = slots_.size();
    while (limit(capacity) < size() + extra) capacity = table_growth::next(capacity);
    return capacity;
  }

  /// Makes room for `extra` more entries: move(access, old, begin, end) inserts the entries in these slots of the
  /// smaller array. No concurrent use is permitted.
  /// @throws memory_exceeded; the table is then unchanged
  template <class Move>
  void grow_slots(std::uint64_t extra, std::uint64_t least, const backend::piece_runner& helpers, const Move& move) {
    if (const std::uint64_t capacity = slots_with_room(extra); capacity != slots_.size())
      move_slots(replace_slots(capacity), least, helpers, move);
  }

  /// Empty slots take the place of those that are there. @return these. @throws memory_exceeded, the table unchanged
  [[nodiscard]] backend::array<Slot> replace_slots(std::uint64_t capacity) {
    backend::array<Slot> slots(slots_.resource(), capacity);
    slots.swap(slots_);
    limit_ = limit(capacity);
    return slots;
  }

  /// Returns the number of pieces of at least `least` elements for several workers.
  [[nodiscard]] static std::uint64_t pieces_of(std::uint64_t elements, std::uint64_t least,
                                               const backend::piece_runner& helpers) {
    constexpr std::uint64_t pieces_of_worker = 4;  // workers begin at different times
    if (helpers.workers() == 1) return 1;
    return std::clamp<std::uint64_t>(elements / least, 1, helpers.workers() * pieces_of_worker);
  }

  /// As grow_slots(), of slots that this or another table had.
  /// @param least minimum number of slots of a piece
  template <class From, class Move>
  static void move_slots(backend::array<From> old, std::uint64_t least, const backend::piece_runner& helpers,
                         const Move& move) {
    const std::uint64_t pieces = pieces_of(old.size(), least, helpers);
    if (pieces == 1) return move(exclusive_access(), old, std::uint64_t{0}, old.size());
    const auto bound = [&old, pieces](std::uint64_t piece) { return old.size() / line * piece / pieces * line; };
    helpers.run(pieces, [&](std::uint64_t piece) { move(concurrent_access(), old, bound(piece), bound(piece + 1)); });
  }

  /// Inserts a new value into the first free slot. Checks slot by slot: the line has just been written, and a wide load
  /// would wait for these stores.
  template <class Access>
  void place(std::uint64_t at, Slot value) {
    while (true) {
      Slot free = __atomic_load_n(&slots_[at], __ATOMIC_RELAXED);
      if (free == 0 && Access::replace(slots_[at], free, value)) return;
      at = at + 1 == slots_.size() ? 0 : at + 1;
    }
  }

  /// Rehashes a table whose slots determine their places: calls put(read(slot, at)) for slots [begin, end) of the
  /// smaller array. Hashes are monotone in the slot, so the sweep accesses both arrays sequentially; it frees the old
  /// array as it proceeds, so that both are never complete at the same time.
  template <class Read, class Put>
  static void sweep(backend::array<Slot>& old, std::uint64_t begin, std::uint64_t end, const Read& read,
                    const Put& put) {
    constexpr std::uint64_t stride = freed_bytes / sizeof(Slot);
    constexpr std::uint64_t batch = 512;
    std::uint64_t kept[batch];
    for (; begin < end; begin += stride) {
      const std::uint64_t stop = std::min(end, begin + stride);
      for (std::uint64_t i = begin; i < stop; i += batch) {
        std::uint64_t count = 0;
        for (std::uint64_t k = i; k < std::min(stop, i + batch); ++k) {
          kept[count] = read(old[k], k);
          count += old[k] != 0 ? 1 : 0;
        }
        for (std::uint64_t k = 0; k < count; ++k) put(kept[k]);
      }
      old.resource().discard(old.data() + begin, (stop - begin) * sizeof(Slot));
    }
  }

  /// Calls use(i) for n keys, whose probes start at slot home_of(i), and prefetches the lines of later keys.
  /// @param Writes 1: prefetch for writing
  template <int Writes, class HomeOf, class Use>
  void fetch_ahead(std::uint32_t n, const HomeOf& home_of, const Use& use) const {
    const Slot* const slots = slots_.data();
    for (std::uint32_t i = 0; i < std::min(n, prefetch_distance); ++i) __builtin_prefetch(slots + home_of(i), Writes);
    for (std::uint32_t i = 0; i < n; ++i) {
      if (i + prefetch_distance < n) __builtin_prefetch(slots + home_of(i + prefetch_distance), Writes);
      use(i);
    }
  }

  backend::array<Slot> slots_;  // a multiple of a line
  std::uint64_t limit_ = 0;
  shared_counter count_{0};
};
using slot_array = array_of_slots<std::uint64_t>;

/// A table that is probed line by line. (At this load, linear probing by slots leaves the line in nearly every second
/// probe and waits for memory again.) KeyOf::key(slot) returns the key that determines a slot's place.
template <class KeyOf, class Slot = std::uint64_t>
class slot_table : public array_of_slots<Slot> {
 public:
  explicit slot_table(backend::memory_resource& resource, std::uint64_t slots = table_growth::initial_slots)
      : array_of_slots<Slot>(resource, slots) {}

  /// Like grow_slots().
  void grow(std::uint64_t extra, const backend::piece_runner& helpers = {}) {
    this->grow_slots(extra, calibration::slots_of_a_thread, helpers,
                     [this](auto access, auto& old, std::uint64_t begin, std::uint64_t end) {
                       this->sweep(
                           old, begin, end, [](Slot slot, std::uint64_t) { return std::uint64_t{slot}; },
                           [this](std::uint64_t slot) {
                             this->template place<decltype(access)>(home(KeyOf::key(slot)), static_cast<Slot>(slot));
                           });
                     });
  }

 protected:
  using array_of_slots<Slot>::line;
  using array_of_slots<Slot>::slots_;

  /// Returns the first slot of the key's line.
  [[nodiscard]] std::uint64_t home(std::uint64_t key) const { return scale(mix(key), slots_.size()) & ~(line - 1); }
  [[nodiscard]] std::uint64_t capacity() const { return slots_.size(); }
  [[nodiscard]] Slot* slots() { return slots_.data(); }
  [[nodiscard]] const Slot* slots() const { return slots_.data(); }
};

}  // namespace gpulog::storage
