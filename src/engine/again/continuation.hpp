#pragma once

#include <vector>

#include "sema/program.hpp"

/// Selects the relations that an evaluation continues semi-naively from inserted facts instead of recomputing.
namespace gpulog::detail {

/// Returns, by relation, the affected relations that only gain tuples, so that their tuples remain valid.
/// @param affected relations affected by the changes
/// @param erased relations that lost facts
[[nodiscard]] std::vector<bool> growing_from(const sema::program& analysed, const std::vector<bool>& affected,
                                             const std::vector<bool>& erased);

/// Returns the program in which all growing relations form one recursion, the last stratum, so that each of their atoms
/// may read a delta. The remaining relations are inputs. Rules that read no growing relation are dropped, because their
/// results exist already.
[[nodiscard]] sema::program recursion_of(const sema::program& analysed, const std::vector<bool>& growing);

}  // namespace gpulog::detail
