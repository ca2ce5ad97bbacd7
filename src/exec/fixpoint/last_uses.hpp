#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/plan.hpp"

namespace gpulog::exec {

/// After which stratum, by its number, an index or a tuple set is needed no more.
struct last_uses {
  static constexpr std::size_t never = SIZE_MAX;

  std::vector<std::size_t> index;  ///< by index_id
  std::vector<std::size_t> set;    ///< by relation_id
  /// By relation_id: the last stratum that inserts into the relation or looks tuples up in it, among those that run
  /// here.
  std::vector<std::size_t> set_needed;
};

/// @param may_run the strata that run here; empty: all
/// @param with_others whether the other searches of a match are made (plan::match::others)
[[nodiscard]] last_uses find_last_uses(const plan::program& program, const std::vector<bool>& may_run,
                                       bool with_others);

/// Whether no stratum behind this one extends the relation. Relations that no stratum lists have been complete from the
/// start.
[[nodiscard]] bool is_complete_after(const plan::program& program, std::size_t stratum, relation_id relation);

}  // namespace gpulog::exec
