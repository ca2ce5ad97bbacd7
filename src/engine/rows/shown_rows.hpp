#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/engine_state.hpp"
#include "engine/rows/shown_evaluation.hpp"

namespace gpulog::detail {

/// The words of a column, and who has them.
struct shared_words {
  const word* words;
  std::shared_ptr<const void> owner;
};

/// The rows that a relation had when this was made, for callers: they stay as they are, whatever becomes of the engine.
class shown_rows {
 public:
  /// @throws memory_limit_error
  shown_rows(std::shared_ptr<engine_state> engine, std::uint32_t relation);

  [[nodiscard]] std::uint64_t rows() const { return rows_; }
  /// Whether rows are pairs of an equivalence relation, which are made when they are asked for.
  [[nodiscard]] bool are_made() const { return are_made_; }
  /// Whether the words are where the evaluation has them.
  [[nodiscard]] bool are_shared() const { return shown_->home && !are_made_; }
  /// A column for each attribute. Where rows are not made, these are all rows.
  [[nodiscard]] std::vector<shared_words> columns(std::uint64_t first, std::uint64_t rows) const;
  [[nodiscard]] const std::shared_ptr<shown_evaluation>& shown() const { return shown_; }

 private:
  /// A column for each attribute. @return where its words are to be written
  [[nodiscard]] std::vector<word*> add_columns(std::vector<shared_words>& columns, std::uint64_t rows) const;
  void copy_staged_rows();

  std::shared_ptr<shown_evaluation> shown_;
  std::uint32_t relation_;
  std::uint64_t rows_;
  bool are_made_ = false;
  std::vector<shared_words> columns_;  ///< nothing where they are made
};

}  // namespace gpulog::detail
