#pragma once

#include <cstdint>

#include "plan/plan.hpp"

namespace gpulog::exec {

/// One of the parts into which ranks divide bindings: part `rank` of `ranks` parts.
struct rank_share {
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
};

/// Returns whether ranks can divide the bindings of a version. Steps that need tables of texts, records or functors run
/// at rank 0, because other ranks have no tables. A version without an expansion that binds slots has a single binding.
[[nodiscard]] bool can_be_divided(const plan::rule_version& version);

/// Returns the version with a filter after the first expansion that binds slots: the filter keeps the bindings whose
/// hash belongs to the share. Each binding belongs to exactly one share, in any order of rows.
/// @param version can_be_divided()
[[nodiscard]] plan::rule_version share_of(const plan::rule_version& version, const rank_share& share);

}  // namespace gpulog::exec
