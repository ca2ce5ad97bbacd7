#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/plan.hpp"

namespace gpulog::exec {

/// By index and tuple set, the number of the last stratum that needs it.
struct last_uses {
  static constexpr std::size_t never = SIZE_MAX;

  std::vector<std::size_t> index;  ///< by index_id
  std::vector<std::size_t> set;    ///< by relation_id
  /// By relation_id: the last stratum run here that inserts into the relation or searches the relation for tuples.
  std::vector<std::size_t> set_needed;

  /// Extends the use of the index to at least the stratum.
  void use_index(std::size_t number, std::size_t stratum);
  std::vector<std::vector<std::uint32_t>> indexes_of;  ///< by stratum: indexes whose last use may be here
  std::vector<std::vector<std::uint32_t>> sets_of;     ///< by stratum: relations whose tuple sets are no longer needed
};

/// @param may_run the strata that run here; empty: all
/// @param with_others whether matches use their alternative searches (plan::match::others)
[[nodiscard]] last_uses find_last_uses(const plan::program& program, const std::vector<bool>& may_run,
                                       bool with_others);

}  // namespace gpulog::exec
