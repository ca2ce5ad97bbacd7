#pragma once

#include <memory>
#include <vector>

#include "engine/evaluation.hpp"

namespace gpulog::detail {

/// An evaluation that continues with inserted facts: its program is a single recursion, and its executor is kept for
/// later facts (docs/adr/0037-continuation.md).
class continued_evaluation final : public evaluation {
 public:
  /// @param changed by relation: relations whose changed facts the plan expects
  /// @param growing relations of the recursion
  continued_evaluation(run_context& run, std::vector<bool> changed, std::vector<bool> growing);

  [[nodiscard]] const std::vector<bool>& changed() const { return changed_; }
  [[nodiscard]] const std::vector<bool>& growing() const { return growing_; }
  /// Returns the growing relations and the relations that the recursion reads.
  [[nodiscard]] const std::vector<bool>& held() const { return held_; }
  /// Returns whether views of columns exist, so that rows must not move.
  [[nodiscard]] bool is_shown() const { return shown().use_count() > 1; }
  void resize(std::size_t relations);

  /// Plans the recursion and takes over the staged results of held relations, then evaluates the auxiliary relations
  /// once.
  void take_over(fact_store& results);
  /// Continues the evaluation from the staged facts of growing relations, and keeps them unless the relation is a plain
  /// input.
  void go_on(fact_store& facts);

 private:
  std::vector<bool> changed_, growing_, held_;
  exec::stratum_executor* executor_ = nullptr;  ///< the same object as evaluation::executor()
};

}  // namespace gpulog::detail
