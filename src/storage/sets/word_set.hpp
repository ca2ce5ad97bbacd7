#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "storage/sets/bit_set.hpp"
#include "storage/sets/slot_table.hpp"
#include "storage/sets/tuple_set.hpp"

namespace gpulog::storage {

/// A set of tuples of one or two columns whose values have known bounds: a hash table of the nonempty words in the
/// tuples' bit matrix. For domains too large for the whole matrix, if neighbouring values often share their first
/// value: then the table has fewer slots than tuples, and neighbours share a cache line.
class word_set : public slot_table<packed_word> {
 public:
  /// @throws memory_exceeded
  word_set(backend::memory_resource& resource, const bit_matrix_shape& shape,
           std::uint64_t slots = table_growth::initial_slots)
      : slot_table(resource, slots), stride_(packed_word::stride(shape)), is_unary_(shape.is_unary) {}

  static constexpr const char* name = "words";

  /// All values must be within the bounds.
  template <class Access>
  std::uint32_t insert(const word* const* values, std::uint32_t n, insert_scratch& scratch) {
    std::uint64_t* const homes = scratch.homes;
    const word* const last = values[is_unary_ ? 0 : 1];
    find_homes(values, n, homes);
    std::uint64_t* const table = slots();
    std::uint32_t fresh = 0;
    std::uint64_t taken = 0;
    fetch_ahead<1>(
        n, [homes](std::uint32_t i) { return homes[i]; },
        [&](std::uint32_t i) {
          const std::uint64_t number = number_of(values, i);
          const std::uint64_t own = 1ULL << (last[i] % packed_word::bits);
          scratch.keys[fresh] = is_unary_ ? last[i] : pack(values[0][i], last[i]);
          fresh += add_at<Access>(table, homes[i], number, own, taken) != 0 ? 1 : 0;
        });
    add_count<Access>(taken);
    return fresh;
  }

  template <class Access>
  std::uint32_t insert_words(word first, const bitmap_words& words, std::uint32_t n, insert_scratch& scratch) {
    std::uint64_t* const homes = scratch.homes;
    constexpr unsigned parts = 64 / packed_word::bits;
    std::uint64_t* const table = slots();
    std::uint32_t fresh = 0;
    std::uint64_t taken = 0;
    for (std::uint32_t begin = 0; begin < n; begin += prefetch_distance) {
      const std::uint32_t end = std::min(n, begin + prefetch_distance);
      const auto each_slot = [&](const auto& use) {
        std::uint32_t next = 0;
        for (std::uint32_t i = begin; i < end; ++i) {
          const std::uint64_t number = std::uint64_t{words.numbers[i]} * parts;
          for (unsigned part = 0; part < parts; ++part) {
            const std::uint64_t own = words.bits[words.numbers[i]] >> (part * packed_word::bits) & slot_values;
            if (own != 0) use(next++, number + part, own);
          }
        }
      };
      each_slot([&](std::uint32_t place, std::uint64_t number, std::uint64_t) {
        homes[place] = home(first * stride_ + number);
        __builtin_prefetch(table + homes[place], 1);
      });
      each_slot([&](std::uint32_t place, std::uint64_t number, std::uint64_t own) {
        const std::uint64_t added = add_at<Access>(table, homes[place], first * stride_ + number, own, taken);
        for (std::uint64_t left = added; left != 0; left &= left - 1) {
          scratch.keys[fresh++] =
              pack(first, static_cast<word>(number * packed_word::bits) + static_cast<word>(std::countr_zero(left)));
        }
      });
    }
    add_count<Access>(taken);
    return fresh;
  }

  void contains(const word* const* values, std::uint32_t n, insert_scratch& scratch, std::uint8_t* found) const {
    std::uint64_t* const homes = scratch.homes;
    const word* const last = values[is_unary_ ? 0 : 1];
    find_homes(values, n, homes);
    const std::uint64_t* const table = slots();
    fetch_ahead<0>(
        n, [homes](std::uint32_t i) { return homes[i]; },
        [&](std::uint32_t i) {
          found[i] = 0;
          // A value beyond the last column would be found in the next row.
          if (last[i] / packed_word::bits >= stride_) return;
          const std::uint64_t number = number_of(values, i);
          for (std::uint64_t at = homes[i];; at = next(at)) {
            const std::uint64_t seen = __atomic_load_n(table + at, __ATOMIC_RELAXED);
            if (seen == 0) break;
            if (packed_word::key(seen) != number) continue;
            found[i] = static_cast<std::uint8_t>((seen >> (last[i] % packed_word::bits)) & 1);
            break;
          }
        });
  }

 private:
  [[nodiscard]] std::uint64_t next(std::uint64_t at) const { return at + 1 == capacity() ? 0 : at + 1; }
  [[nodiscard]] std::uint64_t number_of(const word* const* values, std::uint32_t i) const {
    if (is_unary_) return values[0][i] / packed_word::bits;
    return values[0][i] * stride_ + values[1][i] / packed_word::bits;
  }
  void find_homes(const word* const* values, std::uint32_t n, std::uint64_t* homes) const {
    for (std::uint32_t i = 0; i < n; ++i) homes[i] = home(number_of(values, i));
  }

  /// Adds values of a word, as bits. A slot's number is written once and its bits are only ever set, so readers may act
  /// on outdated values.
  /// @return the new bits
  template <class Access>
  std::uint64_t add_at(std::uint64_t* table, std::uint64_t at, std::uint64_t number, std::uint64_t own,
                       std::uint64_t& taken) const {
    while (true) {
      std::uint64_t seen = Access::load(table[at]);
      if (seen == 0 && Access::replace(table[at], seen, (number << packed_word::bits) | own)) {
        ++taken;
        return own;
      }
      if (packed_word::key(seen) == number) {
        const std::uint64_t added = own & ~seen;
        return added == 0 ? 0 : Access::add_bits(table[at], seen, added);
      }
      at = next(at);
    }
  }

  static constexpr std::uint64_t slot_values = (1ULL << packed_word::bits) - 1;
  std::uint64_t stride_;  // 16-bit words per row
  bool is_unary_;
};
static_assert(tuple_set<word_set>);

/// Estimates the average number of tuples per slot of a word_set, 1 to 16, from a sample of the word numbers.
/// @param values columns of n rows
[[nodiscard]] double tuples_per_word(const word* const* values, std::uint64_t n, const bit_matrix_shape& shape);

}  // namespace gpulog::storage
