#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "backend/array.hpp"
#include "storage/sets/hash.hpp"
#include "storage/sets/tuple_set.hpp"

namespace gpulog::storage {

/// The shape of a matrix with a bit for each tuple of one or two columns. Each row starts at a word boundary.
struct bit_matrix_shape {
  std::uint64_t rows = 0;     ///< 1 for unary relations
  std::uint64_t columns = 0;  ///< number of used bits
  std::uint64_t stride = 0;   ///< 64-bit words per row
  bool is_unary = false;

  /// @param bounds exclusive upper bound of the values, by column
  [[nodiscard]] static bit_matrix_shape of(const std::vector<std::uint64_t>& bounds) {
    bit_matrix_shape shape;
    shape.is_unary = bounds.size() == 1;
    shape.rows = shape.is_unary ? 1 : bounds[0];
    shape.columns = bounds.back();
    shape.stride = (shape.columns + 63) / 64;
    return shape;
  }
  /// Saturates, because 32-bit values may exceed the range.
  [[nodiscard]] std::uint64_t bytes() const {
    std::uint64_t product = 0;
    if (__builtin_mul_overflow(rows, stride * sizeof(std::uint64_t), &product)) return UINT64_MAX;
    return product;
  }
};

/// A slot holds a word of a sparse bit matrix: 16 bits for neighbouring values of the last column, and in the upper
/// bits the number of the word in row-major order.
struct packed_word {
  static constexpr unsigned bits = 16;
  static constexpr unsigned number_bits = 48;
  [[nodiscard]] static std::uint64_t key(std::uint64_t slot) { return slot >> bits; }

  [[nodiscard]] static std::uint64_t stride(const bit_matrix_shape& shape) { return (shape.columns + bits - 1) / bits; }
  /// Returns whether all words of the matrix can be numbered.
  [[nodiscard]] static bool can_hold(const bit_matrix_shape& shape) {
    return shape.rows <= (1ULL << number_bits) / std::max<std::uint64_t>(1, stride(shape));
  }
};

/// A set of tuples as bits of a matrix, for values that are known to be small. A row of the matrix holds the values
/// that occur with a value of the first column, so candidates with the same first value share few cache lines; the
/// matrix never grows.
class bit_set {
 public:
  /// @throws memory_exceeded
  bit_set(backend::memory_resource& resource, const bit_matrix_shape& shape)
      : shape_(shape), words_(resource, shape.rows * shape.stride) {}

  static constexpr const char* name = "bits";
  [[nodiscard]] std::uint64_t bytes() const { return words_.bytes(); }
  [[nodiscard]] static bool has_room(std::uint64_t) { return true; }
  static void grow(std::uint64_t, const backend::piece_runner&) {}

  /// All values must be within the bounds.
  template <class Access>
  std::uint32_t insert(const word* const* values, std::uint32_t n, insert_scratch& scratch) {
    std::uint64_t* const places = scratch.homes;
    find_places(values, n, places);
    const word* const last = values[shape_.is_unary ? 0 : 1];
    std::uint64_t* const words = words_.data();
    std::uint32_t fresh = 0;
    for (std::uint32_t i = 0; i < n && i < ahead; ++i) __builtin_prefetch(words + places[i], 1);
    for (std::uint32_t i = 0; i < n; ++i) {
      if (i + ahead < n) __builtin_prefetch(words + places[i + ahead], 1);
      std::uint64_t& bits = words[places[i]];
      const std::uint64_t own = 1ULL << (last[i] % 64);
      const bool is_new = Access::set_bit(bits, own);
      scratch.keys[fresh] = shape_.is_unary ? last[i] : pack(values[0][i], last[i]);
      fresh += is_new ? 1 : 0;
    }
    return fresh;
  }

  template <class>
  std::uint32_t insert_words(word first, const bitmap_words& words, std::uint32_t n, insert_scratch& scratch) {
    std::uint64_t* const row = words_.data() + first * shape_.stride;
    std::uint32_t fresh = 0;
    for (std::uint32_t i = 0; i < n && i < ahead; ++i) __builtin_prefetch(row + words.numbers[i], 1);
    for (std::uint32_t i = 0; i < n; ++i) {
      if (i + ahead < n) __builtin_prefetch(row + words.numbers[i + ahead], 1);
      const std::uint32_t number = words.numbers[i];
      const std::uint64_t added = words.bits[number] & ~row[number];
      row[number] |= added;
      for (std::uint64_t left = added; left != 0; left &= left - 1)
        scratch.keys[fresh++] = pack(first, number * 64 + static_cast<word>(std::countr_zero(left)));
    }
    return fresh;
  }

  void contains(const word* const* values, std::uint32_t n, insert_scratch& scratch, std::uint8_t* found) const {
    std::uint64_t* const places = scratch.homes;
    const word* const last = values[shape_.is_unary ? 0 : 1];
    for (std::uint32_t i = 0; i < n; ++i) {
      const bool is_inside = last[i] < shape_.columns && (shape_.is_unary || values[0][i] < shape_.rows);
      places[i] = is_inside ? place(shape_.is_unary ? 0 : values[0][i], last[i]) : 0;
      found[i] = is_inside ? 1 : 0;
    }
    const std::uint64_t* const words = words_.data();
    for (std::uint32_t i = 0; i < n && i < ahead; ++i) __builtin_prefetch(words + places[i]);
    for (std::uint32_t i = 0; i < n; ++i) {
      if (i + ahead < n) __builtin_prefetch(words + places[i + ahead]);
      const std::uint64_t bits = __atomic_load_n(words + places[i], __ATOMIC_RELAXED);
      found[i] &= static_cast<std::uint8_t>((bits >> (last[i] % 64)) & 1);
    }
  }

 private:
  /// Prefetch distance.
  static constexpr std::uint32_t ahead = 16;

  [[nodiscard]] std::uint64_t place(std::uint64_t row, word last) const { return row * shape_.stride + last / 64; }
  void find_places(const word* const* values, std::uint32_t n, std::uint64_t* places) const {
    if (shape_.is_unary) {
      for (std::uint32_t i = 0; i < n; ++i) places[i] = values[0][i] / 64;
    } else {
      for (std::uint32_t i = 0; i < n; ++i) places[i] = place(values[0][i], values[1][i]);
    }
  }

  bit_matrix_shape shape_;
  backend::array<std::uint64_t> words_;
};
static_assert(tuple_set<bit_set>);

}  // namespace gpulog::storage
