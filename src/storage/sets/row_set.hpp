#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "backend/array.hpp"
#include "storage/calibration.hpp"
#include "storage/sets/hash.hpp"
#include "storage/sets/slot_table.hpp"

namespace gpulog::storage {

/// The result of offering a row to a set of keys.
enum class placed_row : std::uint8_t { no, added, replaced };

/// The slots of a row set: open addressing with linear probing. A slot holds a row id + 1 in its lower bits and a
/// fingerprint of the hash in the upper bits. A tuple's row is written before its slot, so that readers of the slot see
/// the row.
template <class Slot>
class row_slots : public array_of_slots<Slot> {
 public:
  static constexpr std::uint64_t no_row = UINT64_MAX;
  static constexpr std::uint32_t filled_at_once = 64;  ///< rows of fill() whose slots are prefetched together

  /// @param row_bits number of bits in a slot for the row id
  row_slots(backend::memory_resource& resource, std::uint64_t slots, unsigned row_bits)
      : array_of_slots<Slot>(resource, slots), row_bits_(row_bits) {}

  [[nodiscard]] unsigned row_bits() const { return row_bits_; }
  /// Returns a number that no row has: the largest number that fits into a slot.
  [[nodiscard]] std::uint64_t nowhere() const { return most_rows(row_bits_); }
  /// Returns the exclusive upper bound of row ids for the given number of bits.
  [[nodiscard]] static constexpr std::uint64_t most_rows(unsigned row_bits) {
    return (std::uint64_t{1} << row_bits) - 2;
  }

  void prefetch(std::uint64_t hash) const { __builtin_prefetch(slots_.data() + scale(hash, slots_.size()), 1); }

  template <class Access, class SameAs, class Show>
  bool insert(std::uint64_t hash, std::uint64_t row, SameAs&& same_as, const Show& show) {
    Slot* const slots = slots_.data();
    const Slot entry = make_entry(hash, row);
    std::uint64_t at = scale(hash, slots_.size());
    while (true) {
      Slot seen = __atomic_load_n(&slots[at], __ATOMIC_ACQUIRE);
      if (seen == 0) {
        show();
        if (Access::publish(slots[at], seen, entry)) return true;
      }
      if (has_same_print(seen, entry) && same_as(row_of(seen))) return false;
      at = next(at);
    }
  }
  template <class Access, class SameKey, class Consider, class Show>
  placed_row insert_or_replace(std::uint64_t hash, std::uint64_t row, SameKey&& same_key, Consider&& consider,
                               Show&& show) {
    Slot* const slots = slots_.data();
    const Slot entry = make_entry(hash, row);
    std::uint64_t at = scale(hash, slots_.size());
    Slot seen = __atomic_load_n(&slots[at], __ATOMIC_ACQUIRE);
    while (true) {
      const bool is_free = seen == 0;
      const std::uint64_t other = is_free ? no_row : row_of(seen);
      if (!is_free && (!has_same_print(seen, entry) || !same_key(other))) {
        at = next(at);
        seen = __atomic_load_n(&slots[at], __ATOMIC_ACQUIRE);
        continue;
      }
      if (!is_free && !consider(other)) return placed_row::no;
      show(other);
      if (!Access::publish(slots[at], seen, entry)) continue;  // try again with the present value
      return is_free ? placed_row::added : placed_row::replaced;
    }
  }
  template <class SameAs>
  [[nodiscard]] bool contains(std::uint64_t hash, SameAs&& same_as) const {
    const Slot entry = make_entry(hash, 0);
    for (std::uint64_t at = scale(hash, slots_.size());; at = next(at)) {
      const Slot seen = __atomic_load_n(&slots_.data()[at], __ATOMIC_ACQUIRE);
      if (seen == 0) return false;
      if (has_same_print(seen, entry) && same_as(row_of(seen))) return true;
    }
  }

  void move_row(std::uint64_t hash, std::uint64_t from, std::uint64_t to) {
    slots_[find(hash, from)] = make_entry(hash, to);
  }
  template <class HashOf>
  void erase(std::uint64_t hash, std::uint64_t row, HashOf&& hash_of) {
    const std::uint64_t size = slots_.size();
    std::uint64_t free = find(hash, row);
    // Moves later entries up, but not before their own place: probing ends at a free slot.
    const auto distance = [size](std::uint64_t from, std::uint64_t to) {
      return to >= from ? to - from : to + size - from;
    };
    for (std::uint64_t at = next(free); slots_[at] != 0; at = next(at)) {
      const std::uint64_t home = scale(hash_of(row_of(slots_[at])), size);
      if (distance(home, at) < distance(free, at)) continue;
      slots_[free] = slots_[at];
      free = at;
    }
    slots_[free] = 0;
    this->count_.fetch_sub(1, std::memory_order_relaxed);
  }

  /// Makes room for `extra` more rows, and for row ids with the given number of bits. For further parameters see
  /// row_set::grow().
  template <class HashOf, class Fetch>
  void grow(std::uint64_t extra, unsigned row_bits, std::uint64_t end, const HashOf& hash_of, const Fetch& fetch,
            const backend::piece_runner& helpers) {
    const std::uint64_t capacity = this->slots_with_room(extra);
    const unsigned former_bits = row_bits_;
    if (capacity == slots_.size() && row_bits == former_bits) return;
    backend::array<Slot> old = this->replace_slots(capacity);
    row_bits_ = row_bits;
    take(std::move(old), former_bits, end, hash_of, fetch, helpers);
  }
  /// Moves the rows of a table with a different slot size into this one, which must have room; empties the other table.
  template <class From, class HashOf, class Fetch>
  void take_over(row_slots<From>& other, std::uint64_t end, const HashOf& hash_of, const Fetch& fetch,
                 const backend::piece_runner& helpers) {
    this->template add_count<exclusive_access>(other.size());
    take(std::move(other.slots_), other.row_bits_, end, hash_of, fetch, helpers);
  }
  /// Inserts the distinct rows [0, end) into the empty table, which must have room.
  /// @param hash_rows hash_rows(begin, n, hashes) computes the hashes of n <= filled_at_once rows
  template <class HashRows>
  void fill(std::uint64_t end, const HashRows& hash_rows, const backend::piece_runner& helpers) {
    this->template add_count<exclusive_access>(end);
    insert_all(end, hash_rows, helpers);
  }
  using array_of_slots<Slot>::slots_with_room;

 private:
  template <class Other>
  friend class row_slots;
  using array_of_slots<Slot>::slots_;

  [[nodiscard]] Slot row_mask() const { return static_cast<Slot>(most_rows(row_bits_) + 1); }
  [[nodiscard]] std::uint64_t row_of(Slot entry) const { return (entry & row_mask()) - std::uint64_t{1}; }
  [[nodiscard]] bool has_same_print(Slot one, Slot other) const { return (one ^ other) >> row_bits_ == 0; }
  /// The fingerprint consists of the hash's low bits: the high bits select the slot.
  [[nodiscard]] Slot make_entry(std::uint64_t hash, std::uint64_t row) const {
    return static_cast<Slot>(hash << row_bits_ | (row + 1));
  }
  [[nodiscard]] std::uint64_t next(std::uint64_t at) const { return at + 1 == slots_.size() ? 0 : at + 1; }
  /// Returns the slot of a row, which must be in the set.
  [[nodiscard]] std::uint64_t find(std::uint64_t hash, std::uint64_t row) const {
    const Slot entry = make_entry(hash, row);
    std::uint64_t at = scale(hash, slots_.size());
    while (slots_[at] != entry) at = next(at);
    return at;
  }

  template <class From, class HashOf, class Fetch>
  void take(backend::array<From> old, unsigned row_bits, std::uint64_t end, const HashOf& hash_of, const Fetch& fetch,
            const backend::piece_runner& helpers) {
    if (this->size() == end) {
      old.release();
      const auto hash_rows = [&hash_of](std::uint64_t begin, std::uint32_t n, std::uint64_t* hashes) {
        for (std::uint32_t i = 0; i < n; ++i) hashes[i] = hash_of(begin + i);
      };
      return insert_all(end, hash_rows, helpers);
    }
    const std::uint64_t mask = row_slots<From>::most_rows(row_bits) + 1;
    this->move_slots(std::move(old), calibration::row_slots_of_a_thread, helpers,
                     [&](auto access, auto& from, std::uint64_t begin, std::uint64_t until) {
                       move_entries<decltype(access)>(from, begin, until, mask, hash_of, fetch);
                     });
  }
  /// Inserts rows [0, end) into the empty table. Reads the tuples in order: one cache miss per row, for the slot.
  template <class HashRows>
  void insert_all(std::uint64_t end, const HashRows& hash_rows, const backend::piece_runner& helpers) {
    const std::uint64_t pieces = this->pieces_of(end, calibration::row_slots_of_a_thread, helpers);
    if (pieces == 1) return insert_rows<exclusive_access>(0, end, hash_rows);
    helpers.run(pieces, [&](std::uint64_t piece) {
      insert_rows<concurrent_access>(end * piece / pieces, end * (piece + 1) / pieces, hash_rows);
    });
  }
  template <class Access, class HashRows>
  void insert_rows(std::uint64_t begin, std::uint64_t end, const HashRows& hash_rows) {
    std::uint64_t hashes[filled_at_once];
    for (; begin < end; begin += filled_at_once) {
      const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(filled_at_once, end - begin));
      hash_rows(begin, count, hashes);
      for (std::uint32_t i = 0; i < count; ++i) prefetch(hashes[i]);
      for (std::uint32_t i = 0; i < count; ++i)
        this->template place<Access>(scale(hashes[i], slots_.size()), make_entry(hashes[i], begin + i));
    }
  }
  /// Inserts the entries of slots [begin, end) of another table and frees them as it proceeds. Entries are in order of
  /// their hashes, so their rows have scattered addresses: a batch of rows is prefetched before the first one is read.
  template <class Access, class From, class HashOf, class Fetch>
  void move_entries(backend::array<From>& old, std::uint64_t begin, std::uint64_t end, std::uint64_t mask,
                    const HashOf& hash_of, const Fetch& fetch) {
    constexpr std::uint64_t stride = array_of_slots<Slot>::freed_bytes / sizeof(From);
    constexpr std::uint64_t batch = 32;
    std::uint64_t rows[batch];
    const From* const entries = old.data();
    while (begin < end) {
      const std::uint64_t stop = std::min(end, begin + stride);
      const std::uint64_t freed = begin;
      while (begin < stop) {
        std::uint64_t count = 0;
        for (; begin < stop && count < batch; ++begin) {
          if (entries[begin] == 0) continue;
          rows[count] = (entries[begin] & mask) - 1;
          fetch(rows[count++]);
        }
        for (std::uint64_t i = 0; i < count; ++i) {
          const std::uint64_t hash = hash_of(rows[i]);
          this->template place<Access>(scale(hash, slots_.size()), make_entry(hash, rows[i]));
        }
      }
      old.resource().discard(old.data() + freed, (stop - freed) * sizeof(From));
    }
  }

  unsigned row_bits_;
};

/// A set of tuples of any width: the relation's columns hold the tuples, the set holds row ids. Slots have 32 bits as
/// long as row ids leave room for a fingerprint, then 64.
class row_set {
  template <class Use>
  decltype(auto) visit(const Use& use) {
    return narrow_ ? use(*narrow_) : use(*wide_);
  }
  template <class Use>
  decltype(auto) visit(const Use& use) const {
    return narrow_ ? use(*narrow_) : use(*wide_);
  }

 public:
  using placed = placed_row;
  /// For tuples that are in the columns before insert().
  struct shown_before {
    void operator()() const {}
  };
  static constexpr std::uint64_t no_row = UINT64_MAX;

  explicit row_set(backend::memory_resource& resource)
      : resource_(&resource), narrow_(std::in_place, resource, table_growth::initial_slots, narrow_bits.front()) {}

  [[nodiscard]] std::uint64_t size() const {
    return visit([](const auto& slots) { return slots.size(); });
  }
  [[nodiscard]] std::uint64_t bytes() const {
    return visit([](const auto& slots) { return slots.bytes(); });
  }
  /// @param rows exclusive upper bound of the row ids
  [[nodiscard]] bool has_room(std::uint64_t extra, std::uint64_t rows) const {
    return visit([&](const auto& slots) { return slots.has_room(extra) && rows <= slots.nowhere(); });
  }
  /// Returns a number that no row has; valid until the next growth.
  [[nodiscard]] std::uint64_t nowhere() const {
    return visit([](const auto& slots) { return slots.nowhere(); });
  }
  template <class Access>
  void add_count(std::uint64_t fresh) {
    visit([&](auto& slots) { slots.template add_count<Access>(fresh); });
  }
  void prefetch(std::uint64_t hash) const {
    visit([hash](const auto& slots) { slots.prefetch(hash); });
  }

  /// Offers row `row`, whose tuple has the given hash. `same_as(other)` compares the tuple with another row's tuple.
  /// Calls show() before `row` becomes visible; may call show() repeatedly.
  /// @return whether the tuple was new; then the set refers to `row`
  template <class Access, class SameAs, class Show = shown_before>
  bool insert(std::uint64_t hash, std::uint64_t row, SameAs&& same_as, const Show& show = {}) {
    return visit([&](auto& slots) { return slots.template insert<Access>(hash, row, same_as, show); });
  }
  /// Offers row `row` to a set of keys. If a row with the same key exists, consider(existing) decides whether `row`
  /// replaces it. Calls show(replaced row), or show(no_row), before `row` becomes visible; may call show() repeatedly.
  template <class Access, class SameKey, class Consider, class Show>
  placed insert_or_replace(std::uint64_t hash, std::uint64_t row, SameKey&& same_key, Consider&& consider,
                           Show&& show) {
    return visit(
        [&](auto& slots) { return slots.template insert_or_replace<Access>(hash, row, same_key, consider, show); });
  }
  template <class SameAs>
  [[nodiscard]] bool contains(std::uint64_t hash, SameAs&& same_as) const {
    return visit([&](const auto& slots) { return slots.contains(hash, same_as); });
  }
  /// Updates the set after the tuple of row `from` moved to row `to`. No concurrent use is permitted.
  void move_row(std::uint64_t hash, std::uint64_t from, std::uint64_t to) {
    visit([&](auto& slots) { slots.move_row(hash, from, to); });
  }
  /// Removes row `row` with the given hash; hash_of as for grow(). No concurrent use is permitted.
  template <class HashOf>
  void erase(std::uint64_t hash, std::uint64_t row, HashOf&& hash_of) {
    visit([&](auto& slots) { slots.erase(hash, row, hash_of); });
  }

  /// Makes room for `extra` more rows, like grow_slots(), and for row ids below `rows`.
  /// @param end the end of all rows: rows outside the set are possible
  /// @param hash_of returns the hash of a row in the set
  /// @param fetch prefetches the memory that hash_of reads for a row
  template <class HashOf, class Fetch>
  void grow(std::uint64_t extra, std::uint64_t rows, std::uint64_t end, const HashOf& hash_of, const Fetch& fetch,
            const backend::piece_runner& helpers = {}) {
    if (narrow_) {
      for (const unsigned bits : narrow_bits) {
        if (bits < narrow_->row_bits() || row_slots<std::uint32_t>::most_rows(bits) < rows) continue;
        return narrow_->grow(extra, bits, end, hash_of, fetch, helpers);
      }
      wide_.emplace(*resource_, narrow_->slots_with_room(extra), wide_bits);
      wide_->take_over(*narrow_, end, hash_of, fetch, helpers);
      narrow_.reset();
    }
    wide_->grow(extra, wide_bits, end, hash_of, fetch, helpers);
  }
  /// Inserts the distinct rows [0, end) into the empty set, which must have room: see row_slots::fill().
  template <class HashRows>
  void fill(std::uint64_t end, const HashRows& hash_rows, const backend::piece_runner& helpers) {
    visit([&](auto& slots) { slots.fill(end, hash_rows, helpers); });
  }

 private:
  /// Bits for the row id out of 32; the remaining bits hold the fingerprint. With a fingerprint of 4 bits, a probe
  /// reads a tuple in vain for every 16th slot.
  static constexpr std::array<unsigned, 2> narrow_bits = {24, 28};
  static constexpr unsigned wide_bits = 40;

  backend::memory_resource* resource_;
  std::optional<row_slots<std::uint32_t>> narrow_;  // exactly one of narrow_ and wide_ is present
  std::optional<row_slots<std::uint64_t>> wide_;
};

}  // namespace gpulog::storage
