#include "storage/factorized/word_rows.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "storage/calibration.hpp"

namespace gpulog::storage {
namespace {

using backend::array;

/// Calls action(number) for n bits of a row, starting after the first `skipped` bits.
template <class Action>
void for_each_bit(const row_words& words, std::uint32_t row, std::uint64_t skipped, std::uint64_t n,
                  const Action& action) {
  if (n == 0) return;
  const std::uint64_t words_of_group = words.words_of_group();
  words.for_each_group(row, [&](std::uint64_t first_word, const std::uint64_t* bits) {
    for (std::uint64_t w = 0; w < words_of_group && n != 0; ++w) {
      std::uint64_t left = bits[w];
      std::uint64_t here = static_cast<std::uint64_t>(std::popcount(left));
      if (skipped >= here) {
        skipped -= here;
        continue;
      }
      for (here -= skipped; skipped != 0; --skipped) left &= left - 1;
      const auto first = static_cast<std::uint32_t>((first_word + w) * row_words::word_size);
      n -= here = std::min(here, n);
      for (; here != 0; --here, left &= left - 1) action(first + static_cast<std::uint32_t>(std::countr_zero(left)));
    }
    return n != 0;
  });
}

class words_cursor final : public row_cursor {
 public:
  /// @param in_front rows of the relation before the piece
  words_cursor(const row_words& words, const word* values, std::uint64_t in_front)
      : words_(words), values_(values), in_front_(in_front) {}

  void write(std::uint64_t first, std::uint64_t n, word* const* columns) override {
    first += in_front_;
    const std::uint64_t* const begins = words_.first_row.data();
    const std::uint64_t* const found = std::upper_bound(begins, begins + words_.numbers + 1ULL, first) - 1;
    word* x = columns[0];
    word* y = columns[1];
    for (auto row = static_cast<std::uint32_t>(found - begins); n != 0; ++row) {
      const std::uint64_t skipped = first - begins[row];
      const std::uint64_t here = std::min(n, words_.size(row) - skipped);
      if (x != nullptr) x = std::fill_n(x, here, values_ == nullptr ? row : values_[row]);
      if (y != nullptr && values_ == nullptr)
        for_each_bit(words_, row, skipped, here, [&y](std::uint32_t number) { *y++ = number; });
      if (y != nullptr && values_ != nullptr)
        for_each_bit(words_, row, skipped, here, [&y, this](std::uint32_t number) { *y++ = values_[number]; });
      first += here;
      n -= here;
    }
  }

 private:
  const row_words& words_;
  const word* values_;  // nullptr: numbers are the values
  std::uint64_t in_front_;
};

class words_piece final : public row_piece {
 public:
  words_piece(const row_words& words, const word* values, const std::uint64_t* rows_in_front)
      : words_(words), values_(values), rows_in_front_(rows_in_front) {}

  void make(std::uint32_t number) override { in_front_ = rows_in_front_[number]; }
  [[nodiscard]] std::unique_ptr<row_cursor> cursor() const override {
    return std::make_unique<words_cursor>(words_, values_, in_front_);
  }

 private:
  const row_words& words_;
  const word* values_;
  const std::uint64_t* rows_in_front_;
  std::uint64_t in_front_ = 0;
};

class words_reader final : public matrix_reader {
 public:
  explicit words_reader(word_rows& rows) : rows_(rows), words_(rows.words()) {}

  [[nodiscard]] const host_row_matrix& matrix() const override { return rows_; }
  void contains(const word* const* values, std::uint32_t n, std::uint8_t* found) override {
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::uint32_t source = rows_.number_of(values[0][i]);
      const std::uint32_t value = source == none ? none : rows_.number_of(values[1][i]);
      found[i] = value != none && words_.has(source, value) ? 1 : 0;
    }
    if (words_.lists) rows_.add_work(n);  // each row costs a binary search
  }
  [[nodiscard]] std::uint32_t source_number(const word* const* keys, std::uint32_t i) override {
    return rows_.number_of(keys[0][i]);
  }
  [[nodiscard]] std::uint32_t target_number(const word* const* keys, std::uint32_t i) override {
    const std::uint32_t number = rows_.number_of(keys[0][i]);
    return number == none || rows_.source_counts()[number] == 0 ? none : number;
  }
  [[nodiscard]] found_places targets_of(std::uint32_t source) override {
    found_.clear();
    for_each_bit(words_, source, 0, words_.size(source), [this](std::uint32_t number) { found_.push_back(number); });
    return {&found_};
  }
  [[nodiscard]] found_places sources_of(std::uint32_t value) override {
    const std::uint64_t w = value / row_words::word_size % words_.words_of_group();
    const auto group = static_cast<std::uint32_t>(value / row_words::word_size / words_.words_of_group());
    if (group_ != group) list_group(group);
    found_.clear();
    for (const group_row& one : group_rows_) {
      if ((one.bits[w] >> value % row_words::word_size & 1) != 0) found_.push_back(one.number);
    }
    rows_.add_work(group_rows_.size());
    return {&found_};
  }
  [[nodiscard]] std::uint64_t count_targets(std::uint32_t source) override { return words_.size(source); }
  [[nodiscard]] std::uint64_t count_sources(std::uint32_t value) override { return rows_.source_counts()[value]; }
  [[nodiscard]] bool has_targets(std::uint32_t source) override { return words_.size(source) != 0; }

 private:
  struct group_row {
    std::uint32_t number;
    const std::uint64_t* bits;
  };

  /// Lists the rows that have bits in the group.
  void list_group(std::uint32_t group) {
    group_rows_.clear();
    for (std::uint32_t number = 0; number < words_.numbers; ++number) {
      if (const std::uint64_t* const bits = words_.group(number, group)) group_rows_.push_back({number, bits});
    }
    rows_.add_work(words_.numbers);
    group_ = group;
  }

  word_rows& rows_;
  const row_words& words_;
  std::vector<std::uint32_t> found_;
  std::uint32_t group_ = none;
  std::vector<group_row> group_rows_;
};

}  // namespace

std::uint64_t row_words::bytes() const {
  return (lists ? lists->bytes() : 0) + bits.bytes() + table.bytes() + blocks.bytes() + first_row.bytes() +
         (values.empty() ? 0 : values.front().bytes());
}

word_rows::word_rows(backend::memory_resource& resource, row_words words)
    : host_row_matrix({0}, {1}), resource_(&resource), words_(std::move(words)), is_plain_(words_.values.empty()) {
  if (is_plain_) {
    words_.values.emplace_back(resource, words_.numbers, backend::fresh_memory::anything);
    for (std::uint32_t number = 0; number < words_.numbers; ++number) words_.values.front()[number] = number;
  }
  rows_in_front_.push_back(0);
  for (std::uint32_t number = 1; number < words_.numbers; ++number) {
    if (words_.first_row[number] - rows_in_front_.back() >= calibration::rows_of_piece)
      rows_in_front_.push_back(words_.first_row[number]);
  }
  rows_in_front_.push_back(words_.rows());
}

std::uint64_t word_rows::bytes() const {
  return words_.bytes() + rows_in_front_.size() * sizeof(std::uint64_t) + places_.bytes() + source_counts_.bytes();
}

std::unique_ptr<row_piece> word_rows::make_piece() {
  return std::make_unique<words_piece>(words_, is_plain_ ? nullptr : words_.values.front().data(),
                                       rows_in_front_.data());
}

std::unique_ptr<matrix_reader> word_rows::make_reader() { return std::make_unique<words_reader>(*this); }

std::optional<std::vector<std::uint32_t>> word_rows::places_with_rows(bool of_sources) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t number = 0; number < words_.numbers; ++number) {
    if (of_sources ? words_.size(number) != 0 : source_counts()[number] != 0) found.push_back(number);
  }
  return found;
}

void word_rows::place_numbers() { places_ = tuple_places(*resource_, words_.values, words_.numbers); }

void word_rows::count_sources() {
  source_counts_ = array<std::uint32_t>(*resource_, words_.numbers);
  for (std::uint32_t number = 0; number < words_.numbers; ++number)
    for_each_bit(words_, number, 0, words_.size(number), [this](std::uint32_t value) { ++source_counts_[value]; });
}

}  // namespace gpulog::storage
