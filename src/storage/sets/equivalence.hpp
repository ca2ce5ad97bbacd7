#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "backend/array.hpp"
#include "storage/sets/access.hpp"
#include "storage/sets/element_numbers.hpp"
#include "storage/sets/hash.hpp"

/// An equivalence relation (`eqrel`) as classes: a union-find structure that never stores its pairs.
///
/// The partition has three states, like each relation in a semi-naive evaluation: old, all (old with delta), and the
/// state of the running phase, which readers cannot see before it is published.
///
/// Every class occupies consecutive *places* in one array; within the class, the old classes it was merged from come
/// first, followed by elements that old did not contain. Therefore the partners of an element form one range of places
/// in old and in all, and at most two ranges in delta: before and after its old class. These ranges serve for
/// enumerating pairs.
///
/// When classes are merged, the largest one stays in place and the others are copied after it, into a block that
/// doubles when it is full. Therefore an element moves O(log n) times in total, and the cost of an advance depends on
/// the changes instead of the number of elements.
namespace gpulog::storage {

/// Positions [begin, begin + count) of members().
struct place_range {
  std::uint64_t begin = 0;
  std::uint64_t count = 0;
};
/// Consecutive ranges, which may be empty.
using place_ranges = std::array<place_range, 2>;

/// The pairs of `left_count` places from `left` with `right_count` places from `right`, numbered from `first_pair`:
/// each left place in turn with all right places.
struct pair_block {
  std::uint64_t first_pair = 0;
  std::uint64_t left = 0;
  std::uint64_t right = 0;
  std::uint64_t right_count = 0;
};

class equivalence {
 public:
  explicit equivalence(backend::memory_resource& resource);

  /// Returns the number of pairs in all; old_pairs() counts pairs of old.
  [[nodiscard]] std::uint64_t pairs() const { return pairs_; }
  [[nodiscard]] std::uint64_t old_pairs() const { return all_is_new_ ? 0 : old_pairs_; }
  /// Returns the number of elements in all; old_elements() counts elements of old, which have the lower numbers.
  [[nodiscard]] std::uint64_t elements() const { return elements_; }
  [[nodiscard]] std::uint64_t old_elements() const { return all_is_new_ ? 0 : old_elements_; }
  [[nodiscard]] std::uint64_t bytes() const;

  // --- Insertions. Thread-safe, except make_room() and the functions after it, which require all workers to be idle.

  /// Returns whether this number of pairs may be offered.
  [[nodiscard]] bool has_room(std::uint64_t pairs) const {
    return count_.load(std::memory_order_relaxed) + 2 * pairs <= classes_.capacity();
  }
  /// @throws memory_exceeded
  void make_room(std::uint64_t pairs);

  /// Unites left[i] with right[i], n <= 512. Requires has_room(n) for each worker.
  /// @param offered scratch space of n words
  /// @return the number of pairs that were not implied before
  template <class Access>
  std::uint32_t insert(const word* left, const word* right, std::uint32_t n, std::uint64_t* offered) {
    for (std::uint32_t i = 0; i < n; ++i) {
      numbers_.prefetch(left[i]);
      numbers_.prefetch(right[i]);
    }
    // In a long run nearly all candidates are implied, which the check detects without the lock. The remaining
    // candidates unite two classes or create an element, unless another worker is about to do so.
    std::uint32_t wanted = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      offered[wanted] = pack(left[i], right[i]);
      wanted += is_implied(left[i], right[i]) ? 0 : 1;
    }
    if (wanted == 0) return 0;
    std::unique_lock<std::mutex> alone(access_, std::defer_lock);
    if constexpr (Access::is_concurrent) alone.lock();
    std::uint32_t fresh = 0;
    for (std::uint32_t i = 0; i < wanted; ++i) {
      fresh += unite(static_cast<word>(offered[i] >> 32), static_cast<word>(offered[i])) ? 1 : 0;
    }
    return fresh;
  }

  /// Makes the unions of the phase delta, and delta old.
  /// @throws memory_exceeded
  void publish();
  /// Makes everything published old.
  void make_old();
  /// Makes everything published delta.
  void make_new();

  // --- Access to the published state. Thread-safe, also during insertions.

  void prefetch(word value) const { numbers_.prefetch(value); }
  [[nodiscard]] bool is_element(word value, bool with_old, bool with_delta) const;
  [[nodiscard]] bool is_pair(word left, word right, bool with_old, bool with_delta) const;
  /// Returns equal numbers for values of one class, and the same number for all values in no class.
  [[nodiscard]] std::uint32_t class_number(word value) const {
    const std::uint32_t number = published(value);
    return number == element_numbers::none ? number : class_of_[number];
  }
  /// Returns the places of all values whose pair with `value` is in the selected part.
  [[nodiscard]] place_ranges partners(word value, bool with_old, bool with_delta) const;
  /// Returns the values at all places.
  [[nodiscard]] const word* members() const { return members_.data(); }
  /// Returns the values of all elements, by number.
  [[nodiscard]] const word* values() const { return values_.data(); }
  [[nodiscard]] std::uint64_t pair_count(bool with_old, bool with_delta) const {
    return (with_delta ? pairs() : old_pairs()) - (with_old ? 0 : old_pairs());
  }
  /// Writes n pairs of the selected part, starting at number `first`.
  /// @param left n words, or nullptr
  /// @param right n words, or nullptr
  /// @throws memory_exceeded
  void read_pairs(bool with_old, bool with_delta, std::uint64_t first, std::uint64_t n, word* left, word* right) const;
  /// Returns the number of elements that have a pair in delta; read_changed_elements() writes n of them, starting at
  /// `first`.
  /// @throws memory_exceeded
  [[nodiscard]] std::uint64_t changed_elements() const { return all_is_new_ ? elements_ : changed_elements_; }
  void read_changed_elements(std::uint64_t first, std::uint64_t n, word* elements) const;

 private:
  struct class_entry {
    std::uint64_t begin = 0;   ///< its first place, of bit_ceil(size) places
    std::uint32_t size = 0;    ///< 0: not published, or part of another class
    std::uint32_t change = 0;  ///< number + 1 of its entry in changes_; 0: same as in old
  };
  /// The parts of a changed class.
  struct change_entry {
    std::uint32_t number = 0;       ///< number of the class
    std::uint32_t first_part = 0;   ///< index in parts_, which holds the starts of old classes relative to the class
    std::uint32_t parts = 0;        ///< number of old classes
    std::uint32_t fresh_begin = 0;  ///< start of elements that old did not contain
  };
  struct block_list {
    explicit block_list(backend::memory_resource& resource) : blocks(resource) {}
    backend::array<pair_block> blocks;  // the last block is a terminator: its first_pair is the number of pairs
    std::atomic<bool> is_made{false};
  };
  /// Positions relative to a class.
  struct member_range {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };

  [[nodiscard]] bool is_implied(word left, word right) {
    const std::uint32_t a = numbers_.find(left);
    if (a == element_numbers::none) return false;
    if (left == right) return true;
    const std::uint32_t b = numbers_.find(right);
    return b != element_numbers::none && root(class_of_[a]) == root(class_of_[b]);
  }
  /// Finds the root and halves the path. Concurrent calls are safe: each parent leads to the root.
  [[nodiscard]] std::uint32_t root(std::uint32_t number) {
    std::uint32_t* const parents = parents_.data();
    while (true) {
      const std::uint32_t parent = __atomic_load_n(parents + number, __ATOMIC_RELAXED);
      if (parent == number) return number;
      const std::uint32_t above = __atomic_load_n(parents + parent, __ATOMIC_RELAXED);
      if (above != parent) __atomic_store_n(parents + number, above, __ATOMIC_RELAXED);
      number = above;
    }
  }
  bool unite(word left, word right);
  std::uint32_t number_of(word value, bool& is_new);

  [[nodiscard]] std::uint32_t published(word value) const {
    const std::uint32_t number = numbers_.find(value);
    return number < elements_ ? number : element_numbers::none;
  }
  /// Returns the old class of an element in a class of all; empty if old did not contain the element.
  [[nodiscard]] member_range old_range(const class_entry& found, std::uint32_t position) const;

  void merge_group(std::uint32_t root, std::uint32_t published_elements);
  void append_members(class_entry& target, std::uint32_t base, std::uint64_t from, std::uint32_t count);
  void append_element(class_entry& target, std::uint32_t base, std::uint32_t number);
  void note_change(std::uint32_t number, std::uint32_t first_part, std::uint32_t fresh_begin);
  [[nodiscard]] std::uint64_t allocate_block(std::uint64_t size);
  void free_block(const class_entry& freed);
  /// Moves all blocks together. Called when half of the places belong to no block, so that the total cost is at most
  /// the cost of filling them.
  void close_gaps();
  void forget_blocks();
  template <class Make>
  [[nodiscard]] const backend::array<pair_block>& blocks(block_list& wanted, const Make& make) const;
  void make_blocks(bool with_old, bool with_delta, backend::array<pair_block>& made) const;
  void make_changed_blocks(backend::array<pair_block>& made) const;
  void read_blocks(const backend::array<pair_block>& list, std::uint64_t first, std::uint64_t n, word* left,
                   word* right) const;

  backend::memory_resource* resource_;
  element_numbers numbers_;
  std::mutex access_;                    // protects unions
  std::atomic<std::uint64_t> count_{0};  // number of elements, including the running phase's

  // By element number. A class has the number of one of its elements.
  backend::array<word> values_;
  backend::array<std::uint32_t> class_of_;   // as published; a new element: itself
  backend::array<std::uint32_t> positions_;  // position in its class
  backend::array<std::uint32_t> parents_;    // for classes: unions of the phase
  backend::array<class_entry> classes_;

  backend::array<word> members_;                            // by place
  backend::array<std::uint32_t> member_numbers_;            // by place
  std::vector<backend::array<std::uint64_t>> free_blocks_;  // by log2 of the size
  std::uint64_t used_places_ = 0;                           // number of places in blocks that are not free

  backend::array<std::uint32_t> absorbed_;  // classes that stopped being roots in this phase
  backend::array<change_entry> changes_;
  backend::array<std::uint32_t> parts_;

  std::uint64_t elements_ = 0;
  std::uint64_t old_elements_ = 0;
  std::uint64_t pairs_ = 0;
  std::uint64_t old_pairs_ = 0;
  std::uint64_t changed_elements_ = 0;
  bool all_is_new_ = false;

  mutable std::mutex making_blocks_;
  mutable block_list all_blocks_;
  mutable block_list old_blocks_;
  mutable block_list delta_blocks_;
  mutable block_list changed_blocks_;  // each changed class, with one place as its right side
};

}  // namespace gpulog::storage
