#include "engine/proofs/stored_relations.hpp"

#include <algorithm>
#include <numeric>

#include "engine/again/affected.hpp"
#include "engine/evaluations.hpp"

namespace gpulog::detail {
namespace {

std::vector<std::uint32_t> all_columns(std::size_t arity) {
  std::vector<std::uint32_t> numbers(arity);
  std::iota(numbers.begin(), numbers.end(), 0U);
  return numbers;
}

}  // namespace

std::uint64_t stored_relations::rows(relation_id relation) const { return results_->rows(relation.value); }

stored_relations::table stored_relations::pairs_of(relation_id relation) const {
  table pairs;
  std::vector<word*> columns;
  for (int side = 0; side < 2; ++side) {
    columns.push_back(pairs.memory.emplace_back(context_->values.memory, rows(relation)).data());
  }
  results_->home(relation.value)->executor().read_pairs(relation, 0, rows(relation), columns.data());
  pairs.columns.assign(columns.begin(), columns.end());
  return pairs;
}

const std::vector<const word*>& stored_relations::columns(relation_id relation) {
  if (!context_->is_equivalence(relation.value)) return results_->columns_of(relation.value);
  auto found = pairs_.find(relation);
  if (found == pairs_.end()) found = pairs_.emplace(relation, pairs_of(relation)).first;
  return found->second.columns;
}

const column_index& stored_relations::index(relation_id relation, const std::vector<std::uint32_t>& columns) {
  const std::pair key(relation, columns);
  const auto found = indexes_.find(key);
  if (found != indexes_.end()) return found->second;
  std::vector<const word*> keys;
  for (const std::uint32_t column : columns) keys.push_back(this->columns(relation)[column]);
  return indexes_.emplace(key, column_index(std::move(keys), rows(relation), context_->values.memory)).first->second;
}

bool stored_relations::contains(relation_id relation, std::span<const word> row) {
  return row.empty() ? rows(relation) != 0 : index(relation, all_columns(row.size())).contains(row);
}

stored_relations::table stored_relations::facts_of(relation_id relation) const {
  const auto& blocks = given_->kept(relation.value);
  const std::size_t arity = context_->analysed()[relation].attributes.size();
  std::uint64_t rows = 0;
  for (const staged_rows& block : blocks) rows += block.rows;
  table facts;
  for (std::size_t column = 0; column < arity; ++column) {
    word* next = facts.memory.emplace_back(context_->values.memory, rows).data();
    facts.columns.push_back(next);
    for (const staged_rows& block : blocks) next = std::copy_n(block.columns[column].data(), block.rows, next);
  }
  facts.rows = std::make_unique<column_index>(facts.columns, rows, context_->values.memory);
  return facts;
}

bool stored_relations::is_fact(relation_id relation, std::span<const word> row) {
  if (is_plain_input(context_->analysed()[relation])) return true;
  if (row.empty()) {
    const auto& blocks = given_->kept(relation.value);
    return std::any_of(blocks.begin(), blocks.end(), [](const staged_rows& block) { return block.rows != 0; });
  }
  auto found = facts_.find(relation);
  if (found == facts_.end()) found = facts_.emplace(relation, facts_of(relation)).first;
  return found->second.rows->contains(row);
}

}  // namespace gpulog::detail
