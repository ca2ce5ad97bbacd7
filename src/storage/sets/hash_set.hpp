#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "backend/array.hpp"
#include "storage/sets/hash.hpp"
#include "storage/sets/slot_table.hpp"

/// Tuple sets of the fused way: open addressing, linear probing, 8-byte slots. Both kinds answer "is it new?" in the
/// moment a candidate is produced, for any number of workers at a time; growing needs them all to be elsewhere.
namespace gpulog::storage {

/// A slot that is the tuple itself.
struct packed_tuple {
  [[nodiscard]] static std::uint64_t key(std::uint64_t slot) { return slot; }
};

/// A set of tuples of at most 64 bits; the slot is the tuple. 0 marks a free slot, and the tuple 0 is a flag beside the
/// table.
class packed_set : public slot_table<packed_tuple> {
 public:
  using slot_table::slot_table;

  /// Inserts keys[0..n). Those that were not there are moved, in order, to the front of keys.
  /// @return how many were new. Needs has_room(workers * n) before.
  template <bool Concurrent>
  std::uint32_t insert(std::uint64_t* keys, std::uint32_t n, std::uint64_t* homes) {
    for (std::uint32_t i = 0; i < n; ++i) homes[i] = home(keys[i]);
    std::uint32_t fresh = 0;
    std::uint64_t* const slots = this->slots();
    for (std::uint32_t i = 0; i < std::min(n, prefetch_distance); ++i) __builtin_prefetch(slots + homes[i], 1);
    for (std::uint32_t i = 0; i < n; ++i) {
      if (i + prefetch_distance < n) __builtin_prefetch(slots + homes[i + prefetch_distance], 1);
      const std::uint64_t key = keys[i];
      const bool inserted = key == 0 ? !has_zero_.exchange(true) : insert_at<Concurrent>(slots, homes[i], key);
      keys[fresh] = key;
      fresh += inserted ? 1 : 0;
    }
    add_count<Concurrent>(fresh);
    return fresh;
  }

  /// found[i] = whether keys[i] is there.
  void contains(const std::uint64_t* keys, std::uint32_t n, std::uint64_t* homes, std::uint8_t* found) const {
    const std::uint64_t* const slots = this->slots();
    for (std::uint32_t i = 0; i < n; ++i) homes[i] = home(keys[i]);
    for (std::uint32_t i = 0; i < std::min(n, prefetch_distance); ++i) __builtin_prefetch(slots + homes[i]);
    for (std::uint32_t i = 0; i < n; ++i) {
      if (i + prefetch_distance < n) __builtin_prefetch(slots + homes[i + prefetch_distance]);
      if (keys[i] == 0) {
        found[i] = has_zero_.load(std::memory_order_relaxed) ? 1 : 0;
        continue;
      }
      std::uint64_t at = homes[i];
      while (true) {
        const line_reading seen(slots + at);
        found[i] = seen.equal(keys[i]) != 0 ? 1 : 0;
        if (found[i] != 0 || seen.equal(0) != 0) break;
        at = next(at);
      }
    }
  }

 private:
  [[nodiscard]] std::uint64_t next(std::uint64_t at) const { return at + line == capacity() ? 0 : at + line; }

  static_assert(line == 8);
  /// The slots of a line, each read once. A worker decides by one reading whether a key is there and which slot is
  /// free: with two, another one could put the key into the free slot in between, and it would be inserted twice.
  class line_reading {
   public:
#if defined(__SSE2__) && !defined(__SANITIZE_THREAD__)
    explicit line_reading(const std::uint64_t* slots) {
      for (int pair = 0; pair < 4; ++pair) {
        pairs_[pair] = _mm_load_si128(reinterpret_cast<const __m128i*>(slots) + pair);
        // Nothing happens here; but the compiler may not read the slots again instead of keeping them.
        __asm__ volatile("" : "+x"(pairs_[pair]));
      }
    }
    /// Bits 2k and 2k + 1 are set where slot k is this value. Without a branch: which slot it is can't be predicted.
    [[nodiscard]] std::uint32_t equal(std::uint64_t value) const {
      // Compares halves of slots, 16 in all, and packs them to a byte each. (Eight scalar comparisons take twice the
      // instructions.)
      const __m128i wanted = _mm_set1_epi64x(static_cast<long long>(value));
      const __m128i front = _mm_packs_epi32(_mm_cmpeq_epi32(pairs_[0], wanted), _mm_cmpeq_epi32(pairs_[1], wanted));
      const __m128i back = _mm_packs_epi32(_mm_cmpeq_epi32(pairs_[2], wanted), _mm_cmpeq_epi32(pairs_[3], wanted));
      const auto halves = static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(front, back)));
      return halves & (halves >> 1) & 0x5555;
    }

   private:
    __m128i pairs_[4];
#else
    explicit line_reading(const std::uint64_t* slots) {
      for (std::uint32_t k = 0; k < line; ++k) slots_[k] = __atomic_load_n(&slots[k], __ATOMIC_RELAXED);
    }
    [[nodiscard]] std::uint32_t equal(std::uint64_t value) const {
      std::uint32_t mask = 0;
      for (std::uint32_t k = 0; k < line; ++k) mask |= static_cast<std::uint32_t>(slots_[k] == value) << (2 * k);
      return mask;
    }

   private:
    std::uint64_t slots_[line];
#endif
  };
  /// The first slot of such a mask.
  static std::uint64_t first_slot(std::uint32_t mask) { return static_cast<std::uint64_t>(std::countr_zero(mask)) / 2; }

  template <bool Concurrent>
  bool insert_at(std::uint64_t* slots, std::uint64_t at, std::uint64_t key) const {
    while (true) {
      const line_reading seen(slots + at);
      if (seen.equal(key) != 0) return false;
      const std::uint32_t free = seen.equal(0);
      if (free == 0) {
        at = next(at);
        continue;
      }
      std::uint64_t& slot = slots[at + first_slot(free)];
      if constexpr (!Concurrent) {
        slot = key;
        return true;
      } else {
        // Slots are written once and lines fill from the front. So whoever put the key behind this slot had seen it
        // taken, and two workers with the same key meet here; who loses looks again.
        std::uint64_t expected = 0;
        if (__atomic_compare_exchange_n(&slot, &expected, key, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return true;
        if (expected == key) return false;
      }
    }
  }

  std::atomic<bool> has_zero_{false};
};

/// A set of tuples of any width: a slot holds a row id and a fingerprint, the tuple itself stands in the relation's
/// columns. Row ids have 40 bits. A tuple's row is written before its slot, so whoever sees the slot sees the row.
class row_set {
 public:
  explicit row_set(backend::memory_resource& resource) : slots_(resource) {
    slots_.resize(table_growth::initial_slots);
    limit_ = table_growth::limit(slots_.size());
  }

  [[nodiscard]] std::uint64_t size() const { return count_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool has_room(std::uint64_t extra) const { return size() + extra <= limit_; }
  [[nodiscard]] std::uint64_t bytes() const { return slots_.bytes(); }
  void prefetch(std::uint64_t hash) const { __builtin_prefetch(slots_.data() + scale(hash, slots_.size()), 1); }

  /// Offers row `row`, whose tuple has this hash. `same_as(other)` compares it with another row's tuple.
  /// @return whether it was new; then the set refers to `row`.
  template <bool Concurrent, class SameAs>
  bool insert(std::uint64_t hash, std::uint64_t row, SameAs&& same_as) {
    std::uint64_t* const slots = slots_.data();
    const std::uint64_t entry = make_entry(hash, row);
    std::uint64_t at = scale(hash, slots_.size());
    while (true) {
      std::uint64_t seen = __atomic_load_n(&slots[at], __ATOMIC_ACQUIRE);
      if (seen == 0) {
        if constexpr (!Concurrent) {
          slots[at] = entry;
          return true;
        } else {
          if (__atomic_compare_exchange_n(&slots[at], &seen, entry, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
            return true;
        }
      }
      if ((seen >> row_bits) == (entry >> row_bits) && same_as((seen & row_mask) - 1)) return false;
      if (++at == slots_.size()) at = 0;
    }
  }
  enum class placed : std::uint8_t { no, added, replaced };
  /// For sets of keys: offers row `row`. Where a row with the same key is, consider(it) decides whether `row` takes its
  /// place. show(replaced row) is called before anybody can see `row`; no_row for none. It may be called again.
  template <bool Concurrent, class SameKey, class Consider, class Show>
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
      if constexpr (!Concurrent) {
        slots[at] = entry;
      } else if (!__atomic_compare_exchange_n(&slots[at], &seen, entry, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE)) {
        continue;  // with what is there now
      }
      return is_free ? placed::added : placed::replaced;
    }
  }
  static constexpr std::uint64_t no_row = UINT64_MAX;
  /// A number that no row has.
  static constexpr std::uint64_t nowhere = (1ULL << 40) - 2;
  void add_count(std::uint64_t fresh) { count_.fetch_add(fresh, std::memory_order_relaxed); }

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

  /// Makes room for that many more; hash_of(row) gives the hash of a row in the set, and fetch(row) asks for the memory
  /// that it will read. Nobody may use the set meanwhile; it may take that many threads of its own.
  /// @throws memory_exceeded, the set unchanged
  template <class HashOf, class Fetch>
  void grow(std::uint64_t extra, const HashOf& hash_of, const Fetch& fetch, unsigned threads) {
    std::uint64_t capacity = slots_.size();
    while (table_growth::limit(capacity) < size() + extra) capacity = table_growth::next(capacity);
    if (capacity == slots_.size()) return;
    backend::array<std::uint64_t> old(slots_.resource(), capacity);
    old.swap(slots_);
    limit_ = table_growth::limit(capacity);
    constexpr std::uint64_t slots_per_thread = 1u << 18;  // each costs misses in several columns
    const std::uint64_t parts = std::clamp<std::uint64_t>(old.size() / slots_per_thread, 1, threads);
    if (parts == 1) return move_entries<false>(old, 0, old.size(), hash_of, fetch);
    const auto bound = [&old, parts](std::uint64_t part) { return old.size() * part / parts; };
    std::vector<std::thread> helpers;
    for (std::uint64_t part = 1; part < parts; ++part) {
      helpers.emplace_back([&, part] { move_entries<true>(old, bound(part), bound(part + 1), hash_of, fetch); });
    }
    move_entries<true>(old, 0, bound(1), hash_of, fetch);
    for (std::thread& helper : helpers) helper.join();
  }
  template <class HashOf>
  void grow(std::uint64_t extra, const HashOf& hash_of) {
    grow(
        extra, hash_of, [](std::uint64_t) {}, 1);
  }

 private:
  /// Inserts what stands in slots [begin, end) of the smaller table. Rows stand in the order of their hashes there, so
  /// their tuples lie anywhere: a batch of them is fetched before the first is read.
  template <bool Concurrent, class HashOf, class Fetch>
  void move_entries(const backend::array<std::uint64_t>& old, std::uint64_t begin, std::uint64_t end,
                    const HashOf& hash_of, const Fetch& fetch) {
    constexpr std::uint64_t batch = 32;
    std::uint64_t entries[batch];
    const std::uint64_t capacity = slots_.size();
    while (begin < end) {
      std::uint64_t count = 0;
      for (; begin < end && count < batch; ++begin) {
        if (old[begin] == 0) continue;
        entries[count++] = old[begin];
        fetch((old[begin] & row_mask) - 1);
      }
      for (std::uint64_t i = 0; i < count; ++i) {
        std::uint64_t at = scale(hash_of((entries[i] & row_mask) - 1), capacity);
        while (!place<Concurrent>(at, entries[i])) at = at + 1 == capacity ? 0 : at + 1;
      }
    }
  }
  template <bool Concurrent>
  [[nodiscard]] bool place(std::uint64_t at, std::uint64_t entry) {
    std::uint64_t free = __atomic_load_n(&slots_[at], __ATOMIC_RELAXED);
    if (free != 0) return false;
    if constexpr (!Concurrent) {
      slots_[at] = entry;
      return true;
    } else {
      return __atomic_compare_exchange_n(&slots_[at], &free, entry, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    }
  }

  static constexpr unsigned row_bits = 40;
  static constexpr std::uint64_t row_mask = (1ULL << row_bits) - 1;

  /// The fingerprint is taken from the hash's low bits: its high ones chose the slot.
  static std::uint64_t make_entry(std::uint64_t hash, std::uint64_t row) { return (hash << row_bits) | (row + 1); }

  backend::array<std::uint64_t> slots_;
  std::uint64_t limit_ = 0;
  std::atomic<std::uint64_t> count_{0};
};

}  // namespace gpulog::storage
