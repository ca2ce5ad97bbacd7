#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "exec/ranks/rank_means.hpp"
#include "kernels/search/condensed.hpp"
#include "ranks/rank_group.hpp"

namespace gpulog::exec {

/// Counts strips at all ranks of a run.
class rank_strips final : public kernels::strip_counters {
 public:
  /// @param ranks must outlive this object
  rank_strips(ranks::rank_group& ranks, rank_means means) : ranks_(&ranks), means_(std::move(means)) {}

  [[nodiscard]] unsigned processes() const override { return ranks_->size(); }
  [[nodiscard]] bool pay(double seconds, const storage::factorized_graph& graph) const override;
  /// @throws memory_fault if a rank has too little memory
  /// @throws user_error if a rank fails for a different reason, such as a missing folder
  void begin(const std::vector<storage::factorized_values>& members) override;
  /// @throws memory_fault, user_error as begin()
  void end(std::vector<storage::factorized_values>& members) override;

 private:
  /// Receives the answers of followers: results or messages about failures.
  /// @throws memory_fault, user_error for a message
  [[nodiscard]] std::vector<std::string> answers(ranks::communicator& messages) const;

  ranks::rank_group* ranks_;
  rank_means means_;
};

/// Returns the tasks of followers.
[[nodiscard]] ranks::rank_group::task_table rank_tasks();

}  // namespace gpulog::exec
