#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "exec/executor.hpp"
#include "exec/ranks/division_order.hpp"
#include "exec/ranks/rank_division.hpp"
#include "exec/ranks/rank_means.hpp"
#include "ranks/rank_group.hpp"
#include "support/tuning_modes.hpp"

namespace gpulog::exec {

/// Divides strata among the ranks of a run. Followers keep the program, received relations and parts of partitioned
/// relations until rank 0 evaluates a different program.
class rank_divider final : public stratum_divider {
 public:
  /// @param ranks must outlive this object
  /// @param mode always: divides each stratum that can be divided
  rank_divider(ranks::rank_group& ranks, rank_means means, tuning_mode mode)
      : ranks_(&ranks), means_(std::move(means)), mode_(mode) {}

  /// Starts the devices of followers in the background.
  void start_devices();
  /// Must be called before each evaluation.
  void begin_program();
  [[nodiscard]] bool can_divide(const plan::program& program, std::size_t number) const override;
  /// @throws memory_fault, user_error if another rank cannot take part
  [[nodiscard]] division* divide(stratum_executor& executor, const plan::program& program, std::size_t number,
                                 const undivided_work* before) override;
  /// @throws memory_fault, user_error if another rank cannot take part
  [[nodiscard]] division* partition(stratum_executor& executor, const plan::program& program, std::size_t number,
                                    side where, partition_need need) override;
  [[nodiscard]] std::optional<std::uint64_t> rows_elsewhere(relation_id relation, side where) override;
  [[nodiscard]] std::vector<rows_of_rank> messages_of(relation_id relation, side where) override;
  [[nodiscard]] std::string receive_rows(relation_id relation, side where, const rows_of_rank& asked) override;
  void end_partition(relation_id relation, side where) override;

 private:
  /// Relations of followers, in the memory of processors or of devices.
  struct held_relations {
    std::vector<bool> is_held;  ///< by relation: whether followers have all rows
    partition_columns partitioned;
    std::map<relation_id, std::vector<std::uint64_t>> rows_by_rank;  ///< of partitioned relations
  };

  [[nodiscard]] held_relations& held_at(side where) { return held_[static_cast<std::size_t>(where)]; }
  [[nodiscard]] const held_relations& held_at(side where) const { return held_[static_cast<std::size_t>(where)]; }
  /// Notes the relations that followers have after a complete division.
  void note_results();
  /// Must be called before each division.
  void prepare(const plan::program& program);
  /// Lists the relations that followers need.
  /// @return the size in bytes; no value: a relation has no columns
  [[nodiscard]] std::optional<std::uint64_t> list_relations(const stratum_executor& executor,
                                                            const plan::program& program, division_order& order) const;
  /// Sends the order, waits for the followers and sends the relations.
  [[nodiscard]] division* begin(stratum_executor& executor, const plan::program& program, division_order order,
                                std::optional<solo_limits> alone);
  /// Returns whether all later readers of the relations can be partitioned.
  [[nodiscard]] bool stays_partitioned(const plan::program& program, std::size_t number,
                                       partition_columns columns) const;
  /// @param seconds of rank 0 alone
  /// @param waiting seconds until followers can begin
  /// @param bytes of relations to send
  /// @param received_rows new rows that a rank receives from all other ranks
  [[nodiscard]] bool pays(double seconds, double waiting, std::uint64_t bytes, double received_rows) const;
  /// Removes relations that no later stratum needs from the relations of followers, and returns them.
  [[nodiscard]] std::vector<relation_id> take_unneeded(const plan::program& program, std::size_t number, side where);

  ranks::rank_group* ranks_;
  rank_means means_;
  tuning_mode mode_;
  bool is_new_ = true;
  std::array<held_relations, 2> held_;
  const plan::program* program_ = nullptr;  // of the last division
  std::unique_ptr<rank_division> division_;
  bool is_noted_ = false;            // whether note_results() has noted the last division
  std::size_t divided_ = 0;          // stratum of the last division
  bool has_devices_ = false;         // whether followers have used their devices
  side divided_where_ = side::host;  // of the last division
  std::mutex receiving_;             // several threads may write a relation
};

/// Adds the tasks of followers. The functions store relations between calls.
void add_follower_tasks(ranks::rank_group::task_table& tasks);

}  // namespace gpulog::exec
