#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "backend/array.hpp"
#include "storage/calibration.hpp"
#include "storage/indexes/key_slots.hpp"
#include "storage/relation/relation_options.hpp"
#include "storage/sets/hash.hpp"
#include "support/long_vector.hpp"

namespace gpulog::storage {

using backend::array;
using backend::memory_resource;

/// A contiguous range of a sorted index array.
struct row_range {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// The distinct keys of a sorted index array, the start of each key's rows, and the open-addressing hash table that
/// finds keys: the third layer of a HISA (paper, section 4.3, Algorithm 2). As the keys are distinct, an insertion
/// never has to lower a position.
class key_level {
 public:
  /// @param direct whether dense numeric keys are looked up in an array by number, without a hash table
  key_level(memory_resource& resource, std::uint32_t length, double load, bool direct = false)
      : first_(resource),
        word_table_(resource),
        table_(resource),
        direct_(resource),
        length_(length),
        load_(load),
        may_be_direct_(direct) {
    keys_.reserve(length);
    for (std::uint32_t c = 0; c < length; ++c) keys_.emplace_back(resource);
  }

  [[nodiscard]] std::uint32_t length() const { return length_; }
  [[nodiscard]] std::uint64_t groups() const { return groups_; }
  [[nodiscard]] std::uint64_t bytes() const {
    std::uint64_t sum = first_.bytes() + word_table_.bytes() + table_.bytes() + direct_.bytes();
    for (const auto& column : keys_) sum += column.bytes();
    return sum;
  }

  /// Returns the code of a key: the key itself for up to two words, otherwise a hash that requires a comparison.
  template <class Key>
  [[nodiscard]] std::uint64_t code(const Key& key) const {
    if (length_ == 1) return key(0);
    if (length_ == 2) return pack(key(0), key(1));
    key_hash hash;
    for (std::uint32_t c = 0; c < length_; ++c) hash.add(key(c));
    return hash.value();
  }
  [[nodiscard]] std::uint64_t home(std::uint64_t code) const {
    return length_ == 1 ? word_table_.home(code) : table_.home(code);
  }
  void prefetch(std::uint64_t home) const { length_ == 1 ? word_table_.prefetch(home) : table_.prefetch(home); }

  /// Returns whether find_direct() is available; for levels of one column.
  [[nodiscard]] bool is_direct() const { return direct_.size() != 0; }
  [[nodiscard]] row_range find_direct(word key) const {
    if (key >= direct_.size() - 1) return {};
    return {direct_[key], direct_[key + 1ULL] - direct_[key]};
  }

  /// Returns the rows of a key; count 0 if the key does not exist.
  template <class Key>
  [[nodiscard]] row_range find(std::uint64_t code, std::uint64_t home, const Key& key) const {
    if (groups_ == 0) return {};
    if (is_direct()) return find_direct(static_cast<word>(code));
    const std::uint64_t group =
        length_ == 1 ? word_table_.find(code, home, is_same_word)
                     : table_.find(code, home, [this, &key](std::uint64_t other) { return has_key(other, key); });
    if (group == no_group) return {};
    return {first_[group], first_[group + 1] - first_[group]};
  }

  /// Returns the number of rows with a smaller key; for levels of one column.
  [[nodiscard]] std::uint32_t rows_below(word key) const {
    if (groups_ == 0) return 0;
    const word* const begin = keys_[0].data();
    return first_[static_cast<std::uint64_t>(std::lower_bound(begin, begin + groups_, key) - begin)];
  }

  /// Becomes empty, with room for so many rows to append: a level that is not direct.
  void open(std::uint64_t rows) {
    groups_ = 0;
    first_.resize(rows + 1);
    for (auto& column : keys_) column.resize(rows);
    length_ == 1 ? word_table_.open(rows) : table_.open(rows);
  }
  /// Row `row`, behind all others, has this key. @return false: rows of the key are there, but not the last ones
  template <class Key>
  [[nodiscard]] bool append(std::uint32_t row, const Key& key) {
    const std::uint64_t own = code(key);
    const std::uint64_t group =
        length_ == 1 ? word_table_.add(own, groups_, is_same_word)
                     : table_.add(own, groups_, [this, &key](std::uint64_t other) { return has_key(other, key); });
    if (group != groups_) {
      if (group + 1 != groups_) return false;
      first_[groups_] = row + 1;
      return true;
    }
    for (std::uint32_t c = 0; c < length_; ++c) keys_[c][groups_] = key(c);
    first_[groups_] = row;
    first_[++groups_] = row + 1;
    return true;
  }

  /// Releases the lookup tables; afterwards the level can only be merged.
  void drop_table() {
    word_table_.release();
    table_.release();
    direct_.release();
  }

  /// Builds the level over n sorted rows.
  /// @param value value(c, i) returns key column c of sorted row i
  template <class Backend, class Value>
  void build(Backend& backend, std::uint64_t n, const Value& value) {
    first_.renew(n + 1);
    const std::uint32_t length = length_;
    groups_ = backend.select_if(
        n,
        [&value, length](std::uint64_t i) {
          if (i == 0) return true;
          for (std::uint32_t c = 0; c < length; ++c) {
            if (value(c, i) != value(c, i - 1)) return true;
          }
          return false;
        },
        first_.data());
    first_[groups_] = static_cast<std::uint32_t>(n);
    first_.resize(groups_ + 1);
    if (may_be_direct_ && groups_ < n / 2) first_.set_capacity(groups_ + 1);
    for (std::uint32_t c = 0; c < length; ++c) {
      keys_[c].renew(groups_);
      word* const out = keys_[c].data();
      const std::uint32_t* const first = first_.data();
      backend.for_each(groups_, [&value, out, first, c](std::uint64_t g) { out[g] = value(c, first[g]); });
    }
    build_table(backend);
  }

  /// Becomes the union of two levels whose rows are merged the same way: for equal keys, a's rows precede b's.
  /// @param copy copy(from_b, source_row, count, target_row) is called once for each range of rows, by several workers
  template <class Backend, class Copy>
  void merge(Backend& backend, const key_level& a, const key_level& b, const buffer_policy& buffers, const Copy& copy) {
    const std::uint64_t blocks =
        backend.workers() == 1 ? 1
                               : std::clamp<std::uint64_t>((a.groups_ + b.groups_) / calibration::merged_keys_of_block,
                                                           1, backend.workers() * 4ULL);
    long_vector<std::uint64_t> a_split(blocks + 1), b_split(blocks + 1), merged(blocks + 1);
    for (std::uint64_t block = 0; block <= blocks; ++block) {
      a_split[block] = a.groups_ * block / blocks;
      if (block == blocks || a.groups_ == 0) {
        b_split[block] = b.groups_ * block / blocks;
      } else {
        b_split[block] = block == 0 ? 0 : b.lower_bound(a, a_split[block]);
      }
    }
    backend.for_each_tile(blocks, 1, [&](unsigned, std::uint64_t block, std::uint64_t) {
      std::uint64_t count = 0;
      walk(a, b, a_split[block], a_split[block + 1], b_split[block], b_split[block + 1],
           [&count](std::uint64_t, std::uint64_t, int) { ++count; });
      merged[block + 1] = count;
    });
    for (std::uint64_t block = 0; block < blocks; ++block) merged[block + 1] += merged[block];
    groups_ = merged[blocks];
    const std::uint64_t capacity = buffers.capacity(a.groups_, b.groups_);
    first_.renew(groups_ + 1, capacity + 1);
    for (auto& column : keys_) column.renew(groups_, capacity);
    backend.for_each_tile(blocks, 1, [&](unsigned, std::uint64_t block, std::uint64_t) {
      std::uint64_t g = merged[block];
      walk(a, b, a_split[block], a_split[block + 1], b_split[block], b_split[block + 1],
           [&](std::uint64_t i, std::uint64_t j, int order) {
             const std::uint32_t target = a.start(i) + b.start(j);
             first_[g] = target;
             const key_level& source = order <= 0 ? a : b;
             const std::uint64_t at = order <= 0 ? i : j;
             for (std::uint32_t c = 0; c < length_; ++c) keys_[c][g] = source.keys_[c][at];
             std::uint32_t from_a = 0;
             if (order <= 0) {
               from_a = a.first_[i + 1] - a.first_[i];
               copy(false, a.first_[i], from_a, target);
             }
             if (order >= 0) copy(true, b.first_[j], b.first_[j + 1] - b.first_[j], target + from_a);
             ++g;
           });
    });
    first_[groups_] = a.start(a.groups_) + b.start(b.groups_);
    build_table(backend);
  }

 private:
  /// Returns the start of group g's rows; an unbuilt level has no rows.
  [[nodiscard]] std::uint32_t start(std::uint64_t g) const { return first_.size() == 0 ? 0 : first_[g]; }

  static constexpr std::uint64_t no_group = key_slots<std::uint32_t>::no_group;
  /// A print of 32 bits is the key. A function object, so that each search is inlined.
  static constexpr auto is_same_word = [](std::uint64_t) { return true; };

  template <class Key>
  [[nodiscard]] bool has_key(std::uint64_t group, const Key& key) const {
    for (std::uint32_t c = 0; c < length_; ++c) {
      if (keys_[c][group] != key(c)) return false;
    }
    return true;
  }

  static int compare(const key_level& a, std::uint64_t i, const key_level& b, std::uint64_t j) {
    for (std::uint32_t c = 0; c < a.length_; ++c) {
      const word left = a.keys_[c][i];
      const word right = b.keys_[c][j];
      if (left != right) return left < right ? -1 : 1;
    }
    return 0;
  }

  /// Returns the first group whose key is not below the key of group i in a.
  [[nodiscard]] std::uint64_t lower_bound(const key_level& a, std::uint64_t i) const {
    std::uint64_t low = 0;
    std::uint64_t high = groups_;
    while (low < high) {
      const std::uint64_t middle = (low + high) / 2;
      if (compare(*this, middle, a, i) < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /// Calls visit(i, j, order) for each distinct key of both levels, ascending: order < 0 only in a, > 0 only in b, 0 in
  /// both.
  template <class Visit>
  static void walk(const key_level& a, const key_level& b, std::uint64_t i, std::uint64_t a_end, std::uint64_t j,
                   std::uint64_t b_end, Visit&& visit) {
    while (i < a_end || j < b_end) {
      const int order = i == a_end ? 1 : j == b_end ? -1 : compare(a, i, b, j);
      visit(i, j, order);
      if (order <= 0) ++i;
      if (order >= 0) ++j;
    }
  }

  /// Builds direct_: entry k is the number of rows with a key below k.
  template <class Backend>
  void build_direct(Backend& backend, std::uint64_t largest) {
    word_table_.release();
    direct_.renew(largest + 2);
    std::uint32_t* const direct = direct_.data();
    const word* const keys = keys_[0].data();
    const std::uint32_t* const first = first_.data();
    const std::uint64_t groups = groups_;
    backend.for_each(groups + 1, [=](std::uint64_t g) {
      const std::uint64_t begin = g == 0 ? 0 : keys[g - 1] + 1ULL;
      const std::uint64_t end = g == groups ? largest + 2 : keys[g] + 1ULL;
      for (std::uint64_t k = begin; k < end; ++k) direct[k] = first[g];
    });
  }

  template <class Backend>
  void build_table(Backend& backend) {
    if (may_be_direct_ && length_ == 1 && groups_ != 0) {
      const std::uint64_t largest = keys_[0][groups_ - 1];
      // Four bytes per number take less memory than a hash table as long as every fourth number is a key.
      if (largest < 4 * groups_ + 64) {
        build_direct(backend, largest);
        return;
      }
    }
    direct_.release();
    const auto code_of = [this](std::uint64_t group) {
      return code([this, group](std::uint32_t c) { return keys_[c][group]; });
    };
    const bool has_spare_room = !may_be_direct_;  // only HISA's merges reuse buffers
    if (length_ == 1) {
      word_table_.fill(backend, groups_, load_, has_spare_room, code_of);
    } else {
      table_.fill(backend, groups_, load_, has_spare_room, code_of);
    }
  }

  std::vector<array<word>> keys_;
  array<std::uint32_t> first_;           // groups_ + 1 entries
  key_slots<std::uint64_t> word_table_;  // of keys of one word
  key_slots<std::uint32_t> table_;       // of longer keys
  array<std::uint32_t> direct_;
  std::uint64_t groups_ = 0;
  std::uint32_t length_;
  double load_;
  bool may_be_direct_;
};

}  // namespace gpulog::storage
