#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "backend/array.hpp"

namespace gpulog::storage {

/// Rows of bits as ascending lists of their nonzero words: for rows that are complete when they are added. Groups of
/// words (row_groups.hpp) are for rows that grow.
class word_lists {
 public:
  static constexpr std::uint64_t bytes_of_word = sizeof(std::uint32_t) + sizeof(std::uint64_t);
  static constexpr std::uint64_t bytes_of_row = 3 * sizeof(std::uint32_t);  ///< with or without words
  /// The words of a row: bits[i] is word numbers[i] of the row.
  template <class Number, class Bits>
  struct words_of_row {
    Number* numbers = nullptr;
    Bits* bits = nullptr;
    std::uint32_t count = 0;
  };
  using known_words = words_of_row<const std::uint32_t, const std::uint64_t>;
  using new_words = words_of_row<std::uint32_t, std::uint64_t>;
  /// The next position reserved for a worker.
  struct reserve {
    std::uint32_t chunk = 0;
    std::uint32_t next = 0;
    std::uint32_t end = 0;
    std::uint32_t* numbers = nullptr;
    std::uint64_t* bits = nullptr;
  };

  /// @throws backend::memory_exceeded
  word_lists(backend::memory_resource& resource, std::uint64_t rows) : resource_(&resource), places_(resource, rows) {}

  /// Allocates the words of a new row; the caller fills them in. Thread-safe.
  /// @throws backend::memory_exceeded
  [[nodiscard]] new_words add(std::uint64_t row, std::uint32_t count, reserve& own) {
    if (own.end - own.next < count) {
      if (count > most_chunk_words / 8) {
        // A long row has a separate chunk, so that chunks are full.
        reserve alone = take_chunk(count);
        return take(row, count, alone);
      }
      own = take_chunk(std::max(count, std::clamp(2 * own.end, first_chunk_words, most_chunk_words)));
    }
    return take(row, count, own);
  }
  [[nodiscard]] known_words of(std::uint64_t row) const {
    const place& own = places_[row];
    if (own.count == 0) return {};
    const chunk& in = chunks_[own.chunk];
    return {in.numbers.data() + own.first, in.bits.data() + own.first, own.count};
  }
  /// Returns a word of the row; nullptr: the word is zero.
  [[nodiscard]] const std::uint64_t* word_of(std::uint64_t row, std::uint64_t number) const {
    const known_words words = of(row);
    const std::uint32_t* const found = std::lower_bound(words.numbers, words.numbers + words.count, number);
    const auto at = static_cast<std::uint32_t>(found - words.numbers);
    return at == words.count || *found != number ? nullptr : words.bits + at;
  }
  [[nodiscard]] std::uint64_t bytes() const {
    std::uint64_t sum = places_.bytes();
    for (const chunk& one : chunks_) sum += one.numbers.bytes() + one.bits.bytes();
    return sum;
  }

 private:
  /// The size of a worker's chunks doubles up to a limit.
  static constexpr std::uint32_t first_chunk_words = 1U << 8;
  static constexpr std::uint32_t most_chunk_words = 1U << 14;
  struct chunk {
    backend::array<std::uint32_t> numbers;
    backend::array<std::uint64_t> bits;
  };
  struct place {
    std::uint32_t chunk;
    std::uint32_t first;
    std::uint32_t count;
  };

  [[nodiscard]] reserve take_chunk(std::uint32_t size) {
    chunk made{{*resource_, size, backend::fresh_memory::anything},
               {*resource_, size, backend::fresh_memory::anything}};
    const std::lock_guard lock(*growing_);
    chunks_.push_back(std::move(made));
    const auto number = static_cast<std::uint32_t>(chunks_.size() - 1);
    return {number, 0, size, chunks_.back().numbers.data(), chunks_.back().bits.data()};
  }
  [[nodiscard]] new_words take(std::uint64_t row, std::uint32_t count, reserve& from) {
    places_[row] = {from.chunk, from.next, count};
    const new_words added{from.numbers + from.next, from.bits + from.next, count};
    from.next += count;
    return added;
  }

  backend::memory_resource* resource_;
  backend::array<place> places_;  // by row
  std::vector<chunk> chunks_;
  std::unique_ptr<std::mutex> growing_ = std::make_unique<std::mutex>();
};

}  // namespace gpulog::storage
