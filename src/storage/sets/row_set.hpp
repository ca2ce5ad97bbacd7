#pragma once

#include <cstdint>

#include "backend/array.hpp"
#include "storage/calibration.hpp"
#include "storage/sets/hash.hpp"
#include "storage/sets/slot_table.hpp"

namespace gpulog::storage {

/// A set of tuples of any width, by open addressing with linear probing: a slot holds a row id and a fingerprint, the
/// tuple itself stands in the relation's columns. Row ids have 40 bits. A tuple's row is written before its slot, so
/// whoever sees the slot sees the row.
class row_set : public slot_array {
 public:
  explicit row_set(backend::memory_resource& resource) : slot_array(resource, table_growth::initial_slots) {}

  void prefetch(std::uint64_t hash) const { __builtin_prefetch(slots_.data() + scale(hash, slots_.size()), 1); }

  /// Offers row `row`, whose tuple has this hash. `same_as(other)` compares it with another row's tuple.
  /// @return whether it was new; then the set refers to `row`.
  template <class Access, class SameAs>
  bool insert(std::uint64_t hash, std::uint64_t row, SameAs&& same_as) {
    std::uint64_t* const slots = slots_.data();
    const std::uint64_t entry = make_entry(hash, row);
    std::uint64_t at = scale(hash, slots_.size());
    while (true) {
      std::uint64_t seen = __atomic_load_n(&slots[at], __ATOMIC_ACQUIRE);
      if (seen == 0 && Access::publish(slots[at], seen, entry)) return true;
      if ((seen >> row_bits) == (entry >> row_bits) && same_as((seen & row_mask) - 1)) return false;
      if (++at == slots_.size()) at = 0;
    }
  }
  enum class placed : std::uint8_t { no, added, replaced };
  /// For sets of keys: offers row `row`. Where a row with the same key is, consider(it) decides whether `row` takes its
  /// place. show(replaced row) is called before anybody can see `row`; no_row for none. It may be called again.
  template <class Access, class SameKey, class Consider, class Show>
  placed insert_or_replace(std::uint64_t hash, std::uint64_t row, SameKey&& same_key, Consider&& consider,
                           Show&& show) {
    std::uint64_t* const slots = slots_.data();
    const std::uint64_t entry = make_entry(hash, row);
    std::uint64_t at = scale(hash, slots_.size());
    std::uint64_t seen = __atomic_load_n(&slots[at], __ATOMIC_ACQUIRE);
    while (true) {
      const bool is_free = seen == 0;
      const std::uint64_t other = is_free ? no_row : (seen & row_mask) - 1;
      if (!is_free && ((seen >> row_bits) != (entry >> row_bits) || !same_key(other))) {
        if (++at == slots_.size()) at = 0;
        seen = __atomic_load_n(&slots[at], __ATOMIC_ACQUIRE);
        continue;
      }
      if (!is_free && !consider(other)) return placed::no;
      show(other);
      if (!Access::publish(slots[at], seen, entry)) continue;  // with what is there now
      return is_free ? placed::added : placed::replaced;
    }
  }
  static constexpr std::uint64_t no_row = UINT64_MAX;
  /// A number that no row has.
  static constexpr std::uint64_t nowhere = (1ULL << 40) - 2;

  template <class SameAs>
  [[nodiscard]] bool contains(std::uint64_t hash, SameAs&& same_as) const {
    const std::uint64_t fingerprint = make_entry(hash, 0) >> row_bits;
    for (std::uint64_t at = scale(hash, slots_.size());; at = at + 1 == slots_.size() ? 0 : at + 1) {
      const std::uint64_t seen = __atomic_load_n(&slots_.data()[at], __ATOMIC_ACQUIRE);
      if (seen == 0) return false;
      if ((seen >> row_bits) == fingerprint && same_as((seen & row_mask) - 1)) return true;
    }
  }

  /// The tuple of row `from` was moved to row `to`. Nobody may use the set meanwhile.
  void move_row(std::uint64_t hash, std::uint64_t from, std::uint64_t to) {
    const std::uint64_t entry = make_entry(hash, from);
    std::uint64_t at = scale(hash, slots_.size());
    while (slots_[at] != entry) at = at + 1 == slots_.size() ? 0 : at + 1;
    slots_[at] = make_entry(hash, to);
  }

  /// Takes row `row` with this hash out of the set; hash_of as for grow(). Nobody may use the set meanwhile.
  template <class HashOf>
  void erase(std::uint64_t hash, std::uint64_t row, HashOf&& hash_of) {
    const std::uint64_t size = slots_.size();
    const std::uint64_t entry = make_entry(hash, row);
    std::uint64_t free = scale(hash, size);
    while (slots_[free] != entry) free = free + 1 == size ? 0 : free + 1;
    // What stands behind moves up, as far as its own place: probing ends at a free slot.
    const auto distance = [size](std::uint64_t from, std::uint64_t to) {
      return to >= from ? to - from : to + size - from;
    };
    for (std::uint64_t at = free + 1 == size ? 0 : free + 1; slots_[at] != 0; at = at + 1 == size ? 0 : at + 1) {
      const std::uint64_t home = scale(hash_of((slots_[at] & row_mask) - 1), size);
      if (distance(home, at) < distance(free, at)) continue;
      slots_[free] = slots_[at];
      free = at;
    }
    slots_[free] = 0;
    count_.fetch_sub(1, std::memory_order_relaxed);
  }

  /// As grow_slots(); hash_of(row) gives the hash of a row in the set, and fetch(row) asks for the memory that it
  /// reads.
  template <class HashOf, class Fetch>
  void grow(std::uint64_t extra, const HashOf& hash_of, const Fetch& fetch, unsigned threads) {
    grow_slots(extra, calibration::row_slots_of_a_thread, threads,
               [&](auto access, const auto& old, std::uint64_t begin, std::uint64_t end) {
                 move_entries<decltype(access)>(old, begin, end, hash_of, fetch);
               });
  }

 private:
  /// Inserts what stands in slots [begin, end) of the smaller table. Rows stand in the order of their hashes there, so
  /// their tuples lie anywhere: a batch of them is fetched before the first is read.
  template <class Access, class HashOf, class Fetch>
  void move_entries(const backend::array<std::uint64_t>& old, std::uint64_t begin, std::uint64_t end,
                    const HashOf& hash_of, const Fetch& fetch) {
    constexpr std::uint64_t batch = 32;
    std::uint64_t entries[batch];
    while (begin < end) {
      std::uint64_t count = 0;
      for (; begin < end && count < batch; ++begin) {
        if (old[begin] == 0) continue;
        entries[count++] = old[begin];
        fetch((old[begin] & row_mask) - 1);
      }
      for (std::uint64_t i = 0; i < count; ++i) {
        place<Access>(scale(hash_of((entries[i] & row_mask) - 1), slots_.size()), entries[i]);
      }
    }
  }

  static constexpr unsigned row_bits = 40;
  static constexpr std::uint64_t row_mask = (1ULL << row_bits) - 1;

  /// The fingerprint is taken from the hash's low bits: its high ones chose the slot.
  static std::uint64_t make_entry(std::uint64_t hash, std::uint64_t row) { return (hash << row_bits) | (row + 1); }
};

}  // namespace gpulog::storage
