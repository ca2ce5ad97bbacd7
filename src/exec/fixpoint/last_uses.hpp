#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "exec/executor.hpp"
#include "plan/plan.hpp"

namespace gpulog::exec {

/// Numbers of the last strata that need an index, a tuple set or the rows of a relation.
struct last_uses {
  static constexpr std::size_t never = SIZE_MAX;

  std::vector<std::size_t> index;  ///< by index_id
  std::vector<std::size_t> set;    ///< by relation_id
  /// By relation_id: the last stratum run here that inserts into the relation or searches the relation for tuples.
  std::vector<std::size_t> set_needed;

  std::vector<std::size_t> rows;  ///< by relation_id; never: the rows are results

  /// Extends the use of the index to at least the stratum.
  void use_index(std::size_t number, std::size_t stratum);
  /// Extends the use of the rows of a relation to at least the stratum. Requires that the rows are not freed.
  void use_rows(relation_id relation, std::size_t stratum);
  /// Returns relations without later readers, for the caller to free.
  [[nodiscard]] std::vector<relation_id> take_unread(std::size_t stratum);
  [[nodiscard]] bool has_freed(relation_id relation) const {
    return relation.value < freed.size() && freed[relation.value];
  }

  std::vector<std::vector<std::uint32_t>> indexes_of;  ///< by stratum: indexes with the last use here, or later
  std::vector<std::vector<std::uint32_t>> sets_of;     ///< by stratum: relations whose tuple sets end here
  std::vector<std::vector<std::uint32_t>> rows_of;     ///< by stratum: relations with the last use here, or later
  std::vector<bool> freed;                             ///< by relation_id; empty: no rows may be freed
};

/// @param chosen strata of this executor, and the results
/// @param with_others whether matches use their alternative searches (plan::match::others)
[[nodiscard]] last_uses find_last_uses(const plan::program& program, const options& chosen, bool with_others);

}  // namespace gpulog::exec
