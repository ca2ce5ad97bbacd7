#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "backend/memory_resource.hpp"
#include "engine/rows/column_statistics.hpp"
#include "engine/rows/staged_rows.hpp"
#include "plan/plan.hpp"

namespace gpulog::detail {

/// The facts of a run, by relation: staged rows, which the next evaluation takes over; rows that were erased since the
/// last evaluation; and kept facts, which are copies of facts that cannot be distinguished from derived rows.
class fact_store {
 public:
  fact_store(backend::memory_resource& memory, std::size_t relations) : memory_(&memory) { resize(relations); }

  void resize(std::size_t relations);
  void clear();
  void clear(std::uint32_t relation);
  [[nodiscard]] std::size_t size() const { return staged_.size(); }

  /// Returns the staged rows in the given order.
  [[nodiscard]] const std::vector<staged_rows>& staged(std::uint32_t relation) const { return staged_[relation]; }
  [[nodiscard]] staged_facts& all_staged() { return staged_; }
  /// Returns the number of staged rows.
  [[nodiscard]] std::uint64_t rows(std::uint32_t relation) const;
  [[nodiscard]] std::uint64_t rows() const;
  [[nodiscard]] word at(std::uint32_t relation, std::uint64_t row, std::size_t column) const;
  [[nodiscard]] bool contains(std::uint32_t relation, std::span<const word> row) const;
  /// Returns the staged values of columns; ignores relations made by the planner from facts of the text.
  [[nodiscard]] std::vector<value_range> values_in(const std::vector<plan::column_place>& columns) const;
  [[nodiscard]] const std::vector<staged_rows>& kept(std::uint32_t relation) const { return kept_[relation]; }
  [[nodiscard]] bool has_erased(std::uint32_t relation) const { return !erased_[relation].empty(); }
  [[nodiscard]] std::uint64_t erased_count(std::uint32_t relation) const {
    return erased_[relation].blocks_before.size();
  }
  /// Returns the erased rows in one block.
  [[nodiscard]] staged_rows erased(std::uint32_t relation) const;
  [[nodiscard]] bool is_erased(std::uint32_t relation, const std::vector<word>& row) const;

  void stage(std::uint32_t relation, staged_rows block) { staged_[relation].push_back(std::move(block)); }
  /// Extends the last block.
  /// @throws backend::memory_exceeded without any effect
  void stage_row(std::uint32_t relation, std::span<const word> row);
  /// Removes a row from the facts of the relation; no effect if the row is no fact.
  /// @param at_once whether the staged rows are all facts, and lose the row now
  void erase(std::uint32_t relation, std::vector<word> row, bool at_once);
  /// The same for all rows of a block.
  void erase(std::uint32_t relation, const staged_rows& block, bool at_once);
  /// Removes and returns staged rows.
  [[nodiscard]] std::vector<staged_rows> take(std::uint32_t relation) { return std::exchange(staged_[relation], {}); }
  /// Removes the staged rows of all relations that are not set.
  [[nodiscard]] staged_facts take_others(const std::vector<bool>& relations);
  void restore(staged_facts others);

  void keep(std::uint32_t relation, staged_rows block) { kept_[relation].push_back(std::move(block)); }
  /// Keeps copies of the staged rows.
  void keep_staged(std::uint32_t relation);
  [[nodiscard]] std::vector<staged_rows> take_kept(std::uint32_t relation) {
    return std::exchange(kept_[relation], {});
  }
  void forget_erased(std::uint32_t relation) { erased_[relation] = {}; }
  /// Stages earlier facts before the rows staged since then, and removes erased rows from both.
  void stage_before(std::uint32_t relation, std::vector<staged_rows> earlier);

 private:
  backend::memory_resource* memory_;
  staged_facts staged_;
  std::vector<erased_rows> erased_;
  staged_facts kept_;
};

}  // namespace gpulog::detail
