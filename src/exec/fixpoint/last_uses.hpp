#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/plan.hpp"

namespace gpulog::exec {

/// The number of the last stratum that needs an index or a tuple set.
struct last_uses {
  static constexpr std::size_t never = SIZE_MAX;

  std::vector<std::size_t> index;  ///< by index_id
  std::vector<std::size_t> set;    ///< by relation_id
  /// By relation_id: the last stratum that inserts into the relation or looks tuples up in it, among those that run
  /// here.
  std::vector<std::size_t> set_needed;

  /// The index is needed until then, at least.
  void use_index(std::size_t number, std::size_t stratum);
  std::vector<std::vector<std::uint32_t>> indexes_of;  ///< by stratum: where it is the last, and maybe others
  std::vector<std::vector<std::uint32_t>> sets_of;     ///< by stratum: relations whose sets are no longer needed
};

/// @param may_run the strata that run here; empty: all
/// @param with_others whether the other searches of a match are made (plan::match::others)
[[nodiscard]] last_uses find_last_uses(const plan::program& program, const std::vector<bool>& may_run,
                                       bool with_others);

}  // namespace gpulog::exec
