#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <utility>

#include "storage/sets/hash.hpp"
#include "support/long_vector.hpp"

namespace gpulog::storage {

/// The number of occurrences of each value: a hash table with linear probing. Counts stay at their maximum.
class value_histogram {
 public:
  /// @param values expected number of distinct values
  explicit value_histogram(std::uint64_t values) : slots_(std::bit_ceil(2 * values + 2)) {}

  void add(word value) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    counted& slot = slots_[place_of(value)];
    if (slot.count == 0) ++used_;
    slot.value = value;
    if (slot.count != std::numeric_limits<std::uint32_t>::max()) ++slot.count;
  }
  /// Returns 0 for other values.
  [[nodiscard]] std::uint64_t count(word value) const { return slots_[place_of(value)].count; }
  /// Returns the number of distinct values.
  [[nodiscard]] std::uint64_t size() const { return used_; }

  /// Calls visit(value, count) for each value, in any order.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const counted& one : slots_) {
      if (one.count != 0) visit(one.value, std::uint64_t{one.count});
    }
  }

 private:
  struct counted {
    word value;
    std::uint32_t count;  ///< 0: free slot
  };

  [[nodiscard]] std::size_t place_of(word value) const {
    auto at = static_cast<std::size_t>(scale(mix(value + 1ULL), slots_.size()));
    while (slots_[at].count != 0 && slots_[at].value != value) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  void grow() {
    const long_vector<counted> old = std::exchange(slots_, long_vector<counted>(2 * slots_.size()));
    for (const counted& one : old) {
      if (one.count != 0) slots_[place_of(one.value)] = one;
    }
  }

  long_vector<counted> slots_;
  std::uint64_t used_ = 0;
};

}  // namespace gpulog::storage
