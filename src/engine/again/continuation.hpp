#pragma once

#include <vector>

#include "sema/program.hpp"

/// Which relations of a program are continued semi-naively from inserted facts, instead of being evaluated anew.
namespace gpulog::detail {

/// By relation: those that do nothing but get more tuples, so that what they have stays true.
/// @param affected by the changes @param erased relations that lost facts
[[nodiscard]] std::vector<bool> growing_from(const sema::program& analysed, const std::vector<bool>& affected,
                                             const std::vector<bool>& erased);

/// The program in which growing relations are one recursion, its last stratum, so that each of their atoms may read
/// delta; all others are inputs. Rules that read none of them are left out: what they derive is there.
[[nodiscard]] sema::program recursion_of(const sema::program& analysed, const std::vector<bool>& growing);

}  // namespace gpulog::detail
