#pragma once

#include <atomic>
#include <cstdint>

#include "storage/sets/hash.hpp"
#include "storage/sets/line_table.hpp"
#include "storage/sets/tuple_set.hpp"

namespace gpulog::storage {

/// A slot that contains the tuple itself.
struct packed_tuple {
  [[nodiscard]] static std::uint64_t key(std::uint64_t slot) { return slot; }
};

/// A set of tuples of at most 64 bits: open addressing, probed by lines of eight slots. A slot holds the tuple. 0 marks
/// a free slot, and a separate flag represents the tuple 0.
class packed_set : public line_table<packed_tuple, std::uint64_t> {
 public:
  /// @param width number of columns, 1 or 2
  explicit packed_set(backend::memory_resource& resource, std::uint32_t width = 2)
      : line_table(resource), width_(width) {}

  static constexpr const char* name = "hash";

  template <class Access>
  std::uint32_t insert(const word* const* values, std::uint32_t n, insert_scratch& scratch) {
    pack_keys(values, n, scratch.keys);
    return insert<Access>(scratch.keys, n, scratch.homes);
  }
  template <class Access>
  std::uint32_t insert_words(word first, const bitmap_words& words, std::uint32_t n, insert_scratch& scratch) {
    std::uint32_t count = 0;
    words.for_each(n, [&](word value) { scratch.keys[count++] = pack(first, value); });
    return insert<Access>(scratch.keys, count, scratch.homes);
  }
  void contains(const word* const* values, std::uint32_t n, insert_scratch& scratch, std::uint8_t* found) const {
    pack_keys(values, n, scratch.keys);
    contains(scratch.keys, n, scratch.homes, found);
  }

  /// Inserts keys[0..n). Moves the new keys, in order, to the front of `keys`. Requires has_room(workers * n).
  /// @return the number of new keys
  template <class Access>
  std::uint32_t insert(std::uint64_t* keys, std::uint32_t n, std::uint64_t* homes) {
    for (std::uint32_t i = 0; i < n; ++i) homes[i] = home(keys[i]);
    std::uint32_t fresh = 0;
    fetch_ahead<1>(
        n, [homes](std::uint32_t i) { return homes[i]; },
        [&, slots = slots()](std::uint32_t i) {
          const std::uint64_t key = keys[i];
          const bool inserted = key == 0 ? !has_zero_.exchange(true) : insert_at<Access>(slots, homes[i], key);
          keys[fresh] = key;
          fresh += inserted ? 1 : 0;
        });
    add_count<Access>(fresh);
    return fresh;
  }

  /// Sets found[i] to whether keys[i] is in the set.
  void contains(const std::uint64_t* keys, std::uint32_t n, std::uint64_t* homes, std::uint8_t* found) const {
    for (std::uint32_t i = 0; i < n; ++i) homes[i] = home(keys[i]);
    fetch_ahead<0>(
        n, [homes](std::uint32_t i) { return homes[i]; },
        [&](std::uint32_t i) {
          const bool is_there = keys[i] == 0 ? has_zero_.load(std::memory_order_relaxed) : holds(homes[i], keys[i]);
          found[i] = is_there ? 1 : 0;
        });
  }

 private:
  void pack_keys(const word* const* values, std::uint32_t n, std::uint64_t* keys) const {
    const word* const first = values[0];
    if (width_ == 1) {
      for (std::uint32_t i = 0; i < n; ++i) keys[i] = first[i];
    } else {
      const word* const second = values[1];
      for (std::uint32_t i = 0; i < n; ++i) keys[i] = pack(first[i], second[i]);
    }
  }

  std::uint32_t width_;
  std::atomic<bool> has_zero_{false};
};
static_assert(tuple_set<packed_set>);

}  // namespace gpulog::storage
