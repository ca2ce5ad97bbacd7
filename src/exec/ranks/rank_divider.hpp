#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "exec/executor.hpp"
#include "exec/ranks/rank_division.hpp"
#include "exec/ranks/rank_means.hpp"
#include "ranks/rank_group.hpp"
#include "support/tuning_modes.hpp"

namespace gpulog::exec {

/// Divides strata among the ranks of a run. Followers keep the program and the received relations until rank 0
/// evaluates a different program.
class rank_divider final : public stratum_divider {
 public:
  /// @param ranks must outlive this object
  /// @param mode always: divides each stratum that can be divided
  rank_divider(ranks::rank_group& ranks, rank_means means, tuning_mode mode)
      : ranks_(&ranks), means_(std::move(means)), mode_(mode) {}

  /// Must be called before each evaluation.
  void begin_program() { is_new_ = true; }
  [[nodiscard]] bool can_divide(const plan::program& program, std::size_t number) const override;
  /// @throws memory_fault, user_error if another rank cannot take part
  [[nodiscard]] division* divide(stratum_executor& executor, const plan::program& program, std::size_t number,
                                 const undivided_work* before) override;

 private:
  /// @param seconds of rank 0 alone
  /// @param bytes of relations to send
  /// @param new_rows results of the stratum
  [[nodiscard]] bool pays(double seconds, std::uint64_t bytes, double new_rows) const;
  /// Removes relations that no later stratum needs from the relations of followers, and returns them.
  [[nodiscard]] std::vector<relation_id> take_unneeded(const plan::program& program, std::size_t number);

  ranks::rank_group* ranks_;
  rank_means means_;
  tuning_mode mode_;
  bool is_new_ = true;
  std::vector<bool> held_;  // by relation: whether followers have the rows of the relation
  std::unique_ptr<rank_division> division_;
  std::size_t divided_ = 0;  // stratum of the last division
};

/// Returns the task of followers. The function stores relations between calls.
[[nodiscard]] std::function<void(ranks::communicator& messages)> make_follower();

}  // namespace gpulog::exec
