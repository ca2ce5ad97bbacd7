#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "exec/executor.hpp"
#include "exec/ranks/division.hpp"
#include "exec/stop_watch.hpp"
#include "plan/plan.hpp"
#include "ranks/rank_group.hpp"

namespace gpulog::exec {

/// At followers: rank 0 or another rank has ended the division. Not a failure of this rank.
class division_ended {};

/// When rank 0 ends a division and continues alone.
struct solo_limits {
  double rows_per_second = 0;        ///< if ranks together find fewer new rows: the rate of rank 0 so far
  double exchanged_row_seconds = 0;  ///< if receiving the rows of the phase before the loop takes longer than this
                                     ///< phase at rank 0 alone
};

/// A stratum that the ranks of a run divide.
class rank_division final : public division {
 public:
  /// @param plan the present plan
  /// @param received at followers, the same plan, which changes; nullptr at rank 0
  /// @param partition if the stratum is partitioned
  /// @param resumes if rank 0 has begun the stratum
  /// @param alone at rank 0; nothing: rank 0 never continues alone
  /// @param name_of returns the name of a rank for messages
  rank_division(ranks::communicator& messages, const plan::program& plan, plan::program* received, std::size_t number,
                std::optional<partition_columns> partition, bool resumes, std::optional<solo_limits> alone,
                std::function<std::string(unsigned rank)> name_of)
      : messages_(&messages),
        plan_(&plan),
        received_(received),
        number_(number),
        counts_first_(!resumes && !partition),
        alone_(alone),
        name_of_(std::move(name_of)),
        share_{{messages.rank(), messages.size()}, std::move(partition)} {}

  [[nodiscard]] const stratum_share& share() const override { return share_; }
  [[nodiscard]] next begin_iteration(std::uint64_t new_rows) override;
  phase_end end_phase(phase_end decision, double seconds, const std::vector<appended_block>& appended,
                      const std::function<void(const appended_block&)>& insert) override;
  void finish(const std::vector<std::uint64_t>& rows) override;
  [[nodiscard]] std::exception_ptr fail() noexcept override;
  [[nodiscard]] const std::atomic<bool>* stop(const std::atomic<bool>* cancelled) override;
  [[nodiscard]] bool has_new_plan() const override { return has_new_plan_; }
  void note_new_plan() override { has_new_plan_ = has_new_plan_ || is_leader(); }
  void note_abandoned(const std::vector<relation_id>& relations) override {
    abandoned_.insert(abandoned_.end(), relations.begin(), relations.end());
  }
  [[nodiscard]] const std::vector<relation_id>& abandoned() const override { return abandoned_; }

  /// Waits for all ranks, and exchanges texts.
  /// @return the texts of all ranks, each after state_bytes bytes
  /// @throws at rank 0 the failure of another rank; division_ended at followers
  std::vector<std::string> meet(const std::string& text);
  /// Returns whether all ranks have completed the stratum.
  [[nodiscard]] bool is_finished() const { return is_finished_; }
  /// Returns the number of rows at the end, by rank and relation of the stratum.
  [[nodiscard]] const std::vector<std::vector<std::uint64_t>>& rows_by_rank() const { return rows_by_rank_; }
  [[nodiscard]] bool has_abandoned() const { return !abandoned_.empty(); }

 private:
  /// Exchanges texts with states, as meet() does.
  std::vector<std::string> exchange(const std::string& text);
  /// Returns whether rank 0 alone is faster.
  [[nodiscard]] bool loses(std::uint64_t new_rows);
  /// At the end of the first phase: returns whether all ranks exchange their rows, instead of rank 0 alone running the
  /// phase again. Either way, the stratum takes at most the time of rank 0 alone in addition to the divided phase.
  /// @param seconds that the versions took at this rank
  [[nodiscard]] bool will_exchange(double seconds, std::uint64_t own_rows);
  /// At rank 0: ends the division at all ranks.
  void go_alone();

  ranks::communicator* messages_;
  const plan::program* plan_;
  plan::program* received_;
  std::size_t number_;
  bool counts_first_;  // whether ranks exchange the number of rows before the rows, for rank 0's decision
  std::optional<solo_limits> alone_;
  std::function<std::string(unsigned rank)> name_of_;
  stratum_share share_;
  bool is_over_ = false;
  bool is_finished_ = false;
  bool has_new_plan_ = false;  // at rank 0: not yet sent; at followers: received by the last begin_iteration()
  std::vector<relation_id> abandoned_;
  std::vector<std::vector<std::uint64_t>> rows_by_rank_;
  // At the last comparison of rates.
  double compared_at_ = storage::seconds_now();
  std::optional<std::uint64_t> rows_then_;
  std::optional<stop_watch> watch_;  // last member: the thread uses messages_
};

}  // namespace gpulog::exec
