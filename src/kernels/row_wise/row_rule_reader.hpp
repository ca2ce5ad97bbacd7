#pragma once

#include <cstdint>

#include "kernels/row_wise/row_wise_task.hpp"
#include "kernels/row_wise/row_words.hpp"
#include "storage/relation/relation.hpp"

namespace gpulog::kernels {

/// A rule: for each row, the ranges of words that it consists of.
class row_rule_reader {
 public:
  template <class Backend>
  row_rule_reader(Backend& backend, backend::memory_resource& resource, const row_rule& rule,
                  const relation_list<storage::relation>& relations, row_store<Backend>& store)
      : from_(&store.groups(relations, *rule.left)),
        words_(&store.words(relations, target_pairs(rule))),
        middle_(resource),
        joins_(rule.right.has_value()) {
    const sorted_pairs& from = from_->pairs();
    if (!rule.right) {
      tuples_ = from.size();
      return;
    }
    const std::uint64_t* const items = from.data();
    middle_.resize(from.size());
    storage::row_range* const middle = middle_.data();
    const word_rows& words = *words_;
    tuples_ = backend.reduce(from.size(), [&words, middle, items](std::uint64_t i) {
      middle[i] = words.find(sorted_pairs::value(items[i]));
      return words.values_in(middle[i]);
    });
  }

  /// Returns the rows that may get values, ascending.
  [[nodiscard]] const storage::array<word>& rows() const { return from_->keys(); }
  /// Returns the number of results, including duplicates.
  [[nodiscard]] std::uint64_t tuples() const { return tuples_; }

  /// Calls visit(words) for each w of the row.
  template <class Visit>
  void for_each_range(word row, const Visit& visit) const {
    if (!joins_) {
      visit(words_->find(row));
      return;
    }
    const storage::row_range places = from_->find(row);
    const storage::row_range* const middle = middle_.data() + places.first;
    for (std::uint32_t i = 0; i < places.count; ++i) visit(middle[i]);
  }
  [[nodiscard]] const word_rows& words() const { return *words_; }

 private:
  const grouped_pairs* from_;
  const word_rows* words_;
  storage::array<storage::row_range> middle_;  // for each pair (x,w), the words of w
  bool joins_;
  std::uint64_t tuples_ = 0;
};

}  // namespace gpulog::kernels
