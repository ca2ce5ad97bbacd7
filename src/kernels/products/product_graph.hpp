#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/search/graph_builder.hpp"
#include "support/row_equations.hpp"

namespace gpulog::kernels {

/// The numbers of a product task's rows, and lists of pairs over them.
/// @tparam Numbers operations of a machine (graph_builder.hpp); also lists_of(keys, values, pairs, numbers)
template <class Numbers, class Relations>
class product_graph {
 public:
  using dictionary = typename Numbers::dictionary;
  using lists_type = typename Numbers::lists;

  /// @param bound exclusive bound of the task's values if values serve directly as row numbers, else 0
  /// @throws backend::memory_exceeded
  product_graph(const Numbers& on, backend::memory_resource& resource, const row_equations& task,
                const Relations& relations, std::uint64_t bound)
      : on_(on), resource_(&resource), relations_(&relations), size_(bound) {
    if (bound != 0) return;
    std::vector<numbered_tuples> tuples;
    const auto add = [&](const column_pairs& pairs) {
      tuples.push_back(column(pairs.relation, pairs.key));
      tuples.push_back(column(pairs.relation, pairs.value));
    };
    add({task.relation(), 0, 1});
    for (const row_rule& rule : task.rules) {
      if (rule.left) add(*rule.left);
      if (rule.right) add(*rule.right);
    }
    numbering_ = on.number(1, tuples);
    if (numbering_) size_ = numbering_->size();
  }

  /// Returns the number of rows; 0 if there are too many.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// Nothing if values serve directly as numbers.
  [[nodiscard]] std::optional<dictionary>& numbering() { return numbering_; }
  /// The numbers of a column; the memory is freed in stream order.
  struct column_numbers {
    backend::array<word> memory;  ///< empty: the relation's column
    const word* values = nullptr;
    std::uint64_t rows = 0;
  };
  [[nodiscard]] column_numbers numbers_of(relation_id relation, std::uint32_t number) const {
    numbered_tuples tuples = column(relation, number);
    column_numbers made{{}, tuples.columns.front(), tuples.rows};
    if (!numbering_ || tuples.rows == 0) return made;
    made.memory = backend::array<word>(*resource_, tuples.rows, backend::fresh_memory::anything);
    made.values = tuples.numbers = made.memory.data();
    on_.find(*numbering_, tuples);
    return made;
  }
  /// Returns the successors of each number; cached.
  [[nodiscard]] const lists_type& lists_of(const column_pairs& pairs) {
    for (const auto& [columns, lists] : lists_) {
      if (columns.relation == pairs.relation && columns.key == pairs.key && columns.value == pairs.value) return *lists;
    }
    const column_numbers keys = numbers_of(pairs.relation, pairs.key);
    const column_numbers values = numbers_of(pairs.relation, pairs.value);
    pairs_ += keys.rows;
    lists_.emplace_back(pairs,
                        std::make_unique<lists_type>(on_.lists_of(keys.values, values.values, keys.rows, size_)));
    return *lists_.back().second;
  }
  /// Returns the number of pairs in all lists.
  [[nodiscard]] std::uint64_t pairs() const { return pairs_; }
  /// Returns the inverse lists.
  [[nodiscard]] const lists_type& inverse_of(column_pairs pairs) {
    std::swap(pairs.key, pairs.value);
    return lists_of(pairs);
  }

 private:
  [[nodiscard]] numbered_tuples column(relation_id relation, std::uint32_t number) const {
    const auto& source = *(*relations_)[relation.value];
    return {columns_of(source, {number}), source.rows(), 0, nullptr};
  }

  Numbers on_;
  backend::memory_resource* resource_;
  const Relations* relations_;
  std::uint64_t size_;
  std::uint64_t pairs_ = 0;
  std::optional<dictionary> numbering_;
  std::vector<std::pair<column_pairs, std::unique_ptr<lists_type>>> lists_;
};

}  // namespace gpulog::kernels
