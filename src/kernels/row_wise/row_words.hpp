#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "kernels/row_wise/row_wise_task.hpp"
#include "kernels/search/tuple_numbering.hpp"
#include "storage/relation/relation.hpp"

/// The inputs of row-wise evaluation, prepared on a CPU.
namespace gpulog::kernels {

/// Pairs of two columns (key in the upper half, value in the lower half), sorted by key; within a key, values of the
/// same bitmap word are mostly adjacent.
class sorted_pairs {
 public:
  static constexpr unsigned word_bits = 6;  ///< lower bits of a value, below the number of its word

  template <class Backend>
  sorted_pairs(Backend& backend, backend::memory_resource& resource, const word* keys, const word* values,
               std::uint64_t rows, bool by_word)
      : items_(resource, rows, backend::fresh_memory::anything), size_(rows) {
    std::uint64_t* const packed = items_.data();
    backend.for_each(rows, [=](std::uint64_t i) { packed[i] = storage::pack(keys[i], values[i]); });
    // Rows from row-wise evaluation are already sorted, and files often are.
    if (std::is_sorted(keys, keys + rows)) return;
    storage::array<std::uint64_t> scratch(resource, rows, backend::fresh_memory::anything);
    std::uint64_t used = 0;
    for (std::uint64_t i = 0; i < rows; ++i) used |= packed[i];
    const auto value_bits = static_cast<unsigned>(std::bit_width(static_cast<word>(used)));
    const auto key_bits = static_cast<unsigned>(std::bit_width(used >> 32));
    std::uint64_t* sorted = packed;
    if (by_word && value_bits > word_bits)
      sorted = backend.radix_sort(packed, scratch.data(), rows, word_bits, value_bits);
    std::uint64_t* const other = sorted == packed ? scratch.data() : packed;
    sorted = backend.radix_sort(sorted, other, rows, 32, 32 + key_bits);
    if (sorted != packed) items_.swap(scratch);
  }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] const std::uint64_t* data() const { return items_.data(); }
  [[nodiscard]] static word key(std::uint64_t item) { return static_cast<word>(item >> 32); }
  [[nodiscard]] static word value(std::uint64_t item) { return static_cast<word>(item); }

 private:
  storage::array<std::uint64_t> items_;
  std::uint64_t size_;
};

/// Positions of the keys in a sorted array.
class key_places {
 public:
  explicit key_places(backend::memory_resource& resource) : level_(resource, 1, 0.5, true) {}
  template <class Backend, class Key>
  void build(Backend& backend, std::uint64_t n, const Key& key) {
    level_.build(backend, n, [&key](std::uint32_t, std::uint64_t i) { return key(i); });
  }
  [[nodiscard]] storage::row_range find(word key) const {
    if (level_.is_direct()) return level_.find_direct(key);
    const std::uint64_t code = level_.code([key](std::uint32_t) { return key; });
    return level_.find(code, level_.home(code), [key](std::uint32_t) { return key; });
  }

 private:
  storage::key_level level_;
};

/// The values of each key as bitmap words.
class word_rows {
 public:
  static constexpr unsigned bits = sorted_pairs::word_bits;

  template <class Backend>
  word_rows(Backend& backend, backend::memory_resource& resource, const sorted_pairs& pairs)
      : first_(resource, pairs.size() + 1, backend::fresh_memory::anything),
        numbers_(resource),
        masks_(resource),
        places_(resource) {
    const std::uint64_t* const items = pairs.data();
    words_ = backend.select_if(
        pairs.size(), [items](std::uint64_t i) { return i == 0 || items[i] >> bits != items[i - 1] >> bits; },
        first_.data());
    first_[words_] = static_cast<std::uint32_t>(pairs.size());
    first_.set_capacity(words_ + 1);
    numbers_.resize(words_);
    masks_.resize(words_);
    const std::uint32_t* const first = first_.data();
    std::uint32_t* const numbers = numbers_.data();
    std::uint64_t* const masks = masks_.data();
    backend.for_each(words_, [=](std::uint64_t w) {
      std::uint64_t mask = 0;
      for (std::uint32_t i = first[w]; i < first[w + 1]; ++i) mask |= 1ULL << (items[i] & ((1U << bits) - 1));
      numbers[w] = sorted_pairs::value(items[first[w]]) >> bits;
      masks[w] = mask;
    });
    places_.build(backend, words_, [=](std::uint64_t w) { return sorted_pairs::key(items[first[w]]); });
    for (std::uint64_t w = 0; w < words_; ++w) largest_ = std::max<std::uint64_t>(largest_, numbers[w]);
    largest_ = (largest_ << bits) + (1U << bits) - 1;
  }

  [[nodiscard]] std::uint64_t words() const { return words_; }
  [[nodiscard]] std::uint64_t values() const { return first_.size() == 0 ? 0 : first_[words_]; }
  /// Returns the largest value.
  [[nodiscard]] std::uint64_t largest_value() const { return largest_; }
  /// Returns the words of a key.
  [[nodiscard]] storage::row_range find(word key) const { return places_.find(key); }
  [[nodiscard]] std::uint64_t values_in(const storage::row_range& words) const {
    return words.count == 0 ? 0 : first_[words.first + std::uint64_t{words.count}] - first_[words.first];
  }
  [[nodiscard]] const std::uint32_t* numbers() const { return numbers_.data(); }
  [[nodiscard]] const std::uint64_t* masks() const { return masks_.data(); }

 private:
  storage::array<std::uint32_t> first_;  // first sorted value of each word
  storage::array<std::uint32_t> numbers_;
  storage::array<std::uint64_t> masks_;
  key_places places_;
  std::uint64_t words_ = 0;
  std::uint64_t largest_ = 0;
};

/// Sorted pairs, with the distinct keys and the position of each key's pairs.
class grouped_pairs {
 public:
  template <class Backend>
  grouped_pairs(Backend& backend, backend::memory_resource& resource, sorted_pairs pairs)
      : pairs_(std::move(pairs)), keys_(resource), places_(resource) {
    const std::uint64_t* const items = pairs_.data();
    keys_.resize(pairs_.size());
    const std::uint64_t count = backend.select_if(
        pairs_.size(),
        [items](std::uint64_t i) { return i == 0 || sorted_pairs::key(items[i]) != sorted_pairs::key(items[i - 1]); },
        keys_.data());
    keys_.set_capacity(count);
    word* const keys = keys_.data();
    backend.for_each(count, [=](std::uint64_t i) { keys[i] = sorted_pairs::key(items[keys[i]]); });
    places_.build(backend, pairs_.size(), [items](std::uint64_t i) { return sorted_pairs::key(items[i]); });
  }
  [[nodiscard]] const sorted_pairs& pairs() const { return pairs_; }
  /// Returns the keys, ascending.
  [[nodiscard]] const storage::array<word>& keys() const { return keys_; }
  [[nodiscard]] storage::row_range find(word key) const { return places_.find(key); }

 private:
  sorted_pairs pairs_;
  storage::array<word> keys_;
  key_places places_;
};

/// Two columns of a range of rows.
struct pair_view {
  const word* keys;
  const word* values;
  part_rows read;

  [[nodiscard]] std::uint64_t rows() const { return read.end - read.begin; }
  template <class Relation>
  [[nodiscard]] static pair_view of(const relation_list<Relation>& relations, const column_pairs& pairs) {
    const Relation& from = *relations[pairs.relation.value];
    const part_rows read = rows_of(from, pairs.rows);
    return {from.column(pairs.key) + read.begin, from.column(pairs.value) + read.begin, read};
  }
};

/// Caches prepared inputs while the rows that they came from are unchanged: relations only grow.
template <class Backend>
class row_store {
 public:
  row_store(Backend& backend, backend::memory_resource& resource) : backend_(&backend), resource_(&resource) {}

  void forget() {
    groups_.clear();
    words_.clear();
    numbers_.reset();
    may_number_ = true;
  }
  /// Where not nullptr, words() has numbers of values instead of values.
  [[nodiscard]] const tuple_numbering* numbers() const { return numbers_ ? &*numbers_ : nullptr; }
  /// Numbers the values that rules read, until forget(), where the numbers are much smaller than the values.
  /// @param values all are below @return whether words() has changed
  bool number_values(const relation_list<storage::relation>& relations, const std::vector<row_rule>& rules,
                     std::uint64_t values) {
    if (!std::exchange(may_number_, false)) return false;
    numbers_.emplace(*resource_, 1);
    for (const row_rule& rule : rules) {
      const pair_view view = pair_view::of(relations, target_pairs(rule));
      numbers_->add({view.values}, view.rows());
    }
    if (numbers_->size() * calibration::values_per_number > values) {
      numbers_.reset();
      return false;
    }
    words_.clear();
    return true;
  }
  /// Returns the number of rows to read for inputs of a rule that are not cached.
  [[nodiscard]] std::uint64_t missing_rows(const relation_list<storage::relation>& relations,
                                           const row_rule& rule) const {
    const auto missing = [&](const auto& kept, const column_pairs& pairs) {
      const part_rows read = rows_of(*relations[pairs.relation.value], pairs.rows);
      return has(kept, pairs, read) ? 0 : read.end - read.begin;
    };
    return missing(groups_, *rule.left) + (rule.right ? missing(words_, *rule.right) : 0);
  }
  [[nodiscard]] const grouped_pairs& groups(const relation_list<storage::relation>& relations,
                                            const column_pairs& pairs) {
    const pair_view view = pair_view::of(relations, pairs);
    if (!has(groups_, pairs, view.read)) put(groups_, pairs, view.read, sorted(view, false));
    return *groups_[place_of(pairs)].made;
  }
  [[nodiscard]] const word_rows& words(const relation_list<storage::relation>& relations, const column_pairs& pairs) {
    const pair_view view = pair_view::of(relations, pairs);
    if (!has(words_, pairs, view.read)) {
      storage::array<word> numbers(*resource_, numbers_ ? view.rows() : 0, backend::fresh_memory::anything);
      if (numbers_) numbers_->add({view.values}, view.rows(), 0, numbers.data());
      put(words_, pairs, view.read, sorted({view.keys, numbers_ ? numbers.data() : view.values, view.read}, true));
    }
    return *words_[place_of(pairs)].made;
  }

 private:
  using place = std::tuple<relation_id, std::uint32_t, std::uint32_t, row_part>;
  template <class Made>
  struct kept_rows {
    part_rows read{};
    std::unique_ptr<Made> made;
  };
  template <class Made>
  using kept_map = std::map<place, kept_rows<Made>>;

  static place place_of(const column_pairs& pairs) { return {pairs.relation, pairs.key, pairs.value, pairs.rows}; }
  template <class Made>
  static bool has(const kept_map<Made>& kept, const column_pairs& pairs, const part_rows& read) {
    const auto found = kept.find(place_of(pairs));
    return found != kept.end() && found->second.made && found->second.read.begin == read.begin &&
           found->second.read.end == read.end;
  }
  template <class Made, class From>
  void put(kept_map<Made>& kept, const column_pairs& pairs, const part_rows& read, From&& from) {
    kept_rows<Made>& own = kept[place_of(pairs)];
    own.made.reset();
    own.made = std::make_unique<Made>(*backend_, *resource_, std::forward<From>(from));
    own.read = read;
  }
  [[nodiscard]] sorted_pairs sorted(const pair_view& view, bool by_word) {
    return sorted_pairs(*backend_, *resource_, view.keys, view.values, view.rows(), by_word);
  }

  Backend* backend_;
  backend::memory_resource* resource_;
  kept_map<grouped_pairs> groups_;
  kept_map<word_rows> words_;
  std::optional<tuple_numbering> numbers_;
  bool may_number_ = true;  // it was not tried
};

}  // namespace gpulog::kernels
