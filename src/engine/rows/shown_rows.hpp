#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/engine_state.hpp"
#include "gpulog/relation.hpp"

namespace gpulog::detail {

/// Keeps the rows of a relation alive, even if the engine is evaluated again or reset.
struct shown_evaluation {
  std::shared_ptr<engine_state> engine;
  std::shared_ptr<evaluation> home;   ///< destroyed first; nullptr: no evaluation yet
  std::shared_ptr<const void> shown;  ///< rows do not move while this pointer exists
  staged_rows rows = {};              ///< rows that belong to no evaluation
};

/// The words of a column, and the owner of the words.
struct shared_words {
  const word* words;
  std::shared_ptr<const void> owner;
};

/// The rows of a relation at construction, for callers: unchanged even if the engine changes.
class shown_rows {
 public:
  /// @throws memory_limit_error
  shown_rows(std::shared_ptr<engine_state> engine, std::uint32_t relation);
  /// Shows other rows with the columns of a relation.
  shown_rows(std::shared_ptr<engine_state> engine, std::uint32_t relation, staged_rows rows);

  [[nodiscard]] std::uint64_t rows() const { return rows_; }
  [[nodiscard]] const sema::relation& declared() const { return *declared_; }
  /// Returns whether rows are pairs of an equivalence relation, which are built on request.
  [[nodiscard]] bool are_made() const { return are_made_; }
  /// Returns whether the words are the evaluation's own memory.
  [[nodiscard]] bool are_shared() const { return shown_->home && !are_made_; }
  /// Returns one column per attribute. If rows are not built on request, the columns contain all rows.
  [[nodiscard]] std::vector<shared_words> columns(std::uint64_t first, std::uint64_t rows) const;
  [[nodiscard]] const std::shared_ptr<shown_evaluation>& shown() const { return shown_; }

 private:
  /// Adds one column per attribute.
  /// @return memory for the words of each column
  [[nodiscard]] std::vector<word*> add_columns(std::vector<shared_words>& columns, std::uint64_t rows) const;
  void copy_staged_rows();

  std::shared_ptr<shown_evaluation> shown_;
  std::uint32_t relation_;
  std::shared_ptr<const sema::relation> declared_;
  std::uint64_t rows_;
  bool are_made_ = false;
  std::vector<shared_words> columns_;  ///< empty if rows are built on request
};

/// Implement relation::to_arrow and relation::column.
void export_rows(shown_rows rows, const arrow_options& options, ArrowArrayStream& made);
[[nodiscard]] host_column column_of(const shown_rows& rows, std::size_t number);

}  // namespace gpulog::detail
