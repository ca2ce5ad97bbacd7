#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "exec/hybrid/placement_costs.hpp"
#include "exec/ranks/version_share.hpp"
#include "plan/plan.hpp"

/// Strata that all ranks evaluate together. Divided (docs/adr/0081-divided-strata.md): each rank has all rows of the
/// relations, each version processes a share of its bindings at each rank, and ranks exchange new rows at the end of a
/// phase. Partitioned (docs/adr/0082-partitioned-relations.md): each rank derives its part of the relations alone.
namespace gpulog::exec {

class stratum_executor;

/// Rows that a rank appended to a relation.
struct appended_block {
  relation_id relation;
  std::uint64_t rows = 0;
  std::vector<const word*> columns;
};

/// Rank 0's decision after the versions of a phase.
enum class phase_end : std::uint8_t {
  exchange,           ///< new rows become known to all ranks
  exchange_and_bind,  ///< the same, and the rest of the iteration has a new plan
  run_again,          ///< the phase runs again with a new plan
  run_alone           ///< the phase runs again, at rank 0 alone: the division has ended
};

/// One rank's view of a divided stratum. All ranks call the same functions in the same order.
class division {
 public:
  division() = default;
  division(const division&) = delete;
  division& operator=(const division&) = delete;
  virtual ~division() = default;

  [[nodiscard]] virtual const stratum_share& share() const = 0;
  [[nodiscard]] bool is_leader() const { return share().of.rank == 0; }
  /// Returns whether the stratum is partitioned. Ranks then meet only at the end.
  [[nodiscard]] bool is_partitioned() const { return share().partition.has_value(); }

  enum class next : std::uint8_t {
    iterate,
    bind_again,  ///< at followers: the plan has changed
    go_alone     ///< at rank 0: all followers have left, because rank 0 alone is faster
  };
  /// Called before an iteration, and before the rest of an iteration after a new plan.
  /// @param new_rows of the stratum so far
  [[nodiscard]] virtual next begin_iteration(std::uint64_t new_rows) = 0;
  /// Called after the versions of a phase. Calls insert(block) for the blocks of all remaining ranks.
  /// @param decision only the decision of rank 0 counts
  /// @param seconds that the versions took at this rank
  /// @param appended new rows of this rank; all ranks name the same relations
  virtual phase_end end_phase(phase_end decision, double seconds, const std::vector<appended_block>& appended,
                              const std::function<void(const appended_block&)>& insert) = 0;
  /// Called after the last iteration. @throws like evaluate() if a different rank has failed
  /// @param rows of this rank, by relation of the stratum
  virtual void finish(const std::vector<std::uint64_t>& rows) = 0;
  /// Ends the division at all ranks after the failure that is being handled.
  /// @return the failure, or a different rank's failure that has stopped this rank
  [[nodiscard]] virtual std::exception_ptr fail() noexcept = 0;
  /// Returns the flag that stops the work of this rank: a different rank has failed, or the run is cancelled.
  /// @param cancelled may be nullptr
  [[nodiscard]] virtual const std::atomic<bool>* stop(const std::atomic<bool>* cancelled) = 0;

  /// Returns whether the next iteration begins with a new plan. Then all ranks begin the iteration, even if no relation
  /// has a delta.
  [[nodiscard]] virtual bool has_new_plan() const = 0;
  /// At rank 0: the versions have a new plan.
  virtual void note_new_plan() = 0;
  /// At rank 0: the new plan does not use these relations.
  virtual void note_abandoned(const std::vector<relation_id>& relations) = 0;
  /// Returns the relations that plans of this division have abandoned; the rows of these relations are not exchanged.
  [[nodiscard]] virtual const std::vector<relation_id>& abandoned() const = 0;
};

/// The iterations of a recursion before ranks divide the rest.
struct undivided_work {
  std::vector<std::uint64_t> deltas;  ///< stopped_recursion::deltas
  std::uint64_t new_rows = 0;
  double seconds = 0;
};

/// Rows of a follower, which fit into a message.
struct rows_of_rank {
  unsigned rank = 0;
  std::uint64_t first = 0;  ///< among the rows of the follower
  std::uint64_t rows = 0;
};

/// Why a stratum must be partitioned, whatever the time.
enum class partition_need : std::uint8_t {
  none,   ///< unless the stratum reads partitioned relations
  memory  ///< rank 0 has too little memory for the results
};

/// Divides strata among ranks, at rank 0.
class stratum_divider {
 public:
  stratum_divider() = default;
  stratum_divider(const stratum_divider&) = delete;
  stratum_divider& operator=(const stratum_divider&) = delete;
  virtual ~stratum_divider() = default;

  /// Returns whether ranks can divide a stratum.
  [[nodiscard]] virtual bool can_divide(const plan::program& program, std::size_t number) const = 0;
  /// Sends relations that followers do not have, and begins the division if the division is expected to pay.
  /// @param executor has the relations
  /// @param before the completed iterations of a recursion; nullptr: the stratum has not begun
  /// @return nullptr if rank 0 evaluates the stratum
  [[nodiscard]] virtual division* divide(stratum_executor& executor, const plan::program& program, std::size_t number,
                                         const undivided_work* before) = 0;

  /// Begins a stratum at all ranks if the stratum can be partitioned, and if this is expected to pay or is needed.
  /// @param executor has the relations of the stratum, except rows of partitioned relations at followers
  /// @param where the machine that evaluates the stratum at each rank
  /// @return nullptr if the stratum is not partitioned
  [[nodiscard]] virtual division* partition(stratum_executor& executor, const plan::program& program,
                                            std::size_t number, side where, partition_need need) = 0;
  /// Returns how many rows of a partitioned relation followers have; no value: the relation is not partitioned.
  [[nodiscard]] virtual std::optional<std::uint64_t> rows_elsewhere(relation_id relation, side where) = 0;
  /// Lists the rows that followers have of a partitioned relation.
  [[nodiscard]] virtual std::vector<rows_of_rank> messages_of(relation_id relation, side where) = 0;
  /// Receives rows of a follower, which keeps them. Thread-safe.
  /// @return the words of the rows, column by column
  /// @throws memory_fault, user_error if a follower fails
  [[nodiscard]] virtual std::string receive_rows(relation_id relation, side where, const rows_of_rank& asked) = 0;
  /// The relation is no longer partitioned: rank 0 has all rows, or none.
  virtual void end_partition(relation_id relation, side where) = 0;
};

}  // namespace gpulog::exec
