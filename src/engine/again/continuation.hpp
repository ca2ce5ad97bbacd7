#pragma once

#include <vector>

#include "sema/program.hpp"

/// Selects the relations that an evaluation continues semi-naively from inserted facts instead of recomputing.
namespace gpulog::detail {

/// Returns, by relation, the affected relations that only gain tuples, so that their tuples remain valid.
/// @param affected relations affected by the changes
/// @param erased relations that must be recomputed
/// @param loses whether tuples are also erased: then a relation must have plain rules, whose other derivations of an
///   erased tuple can be searched
[[nodiscard]] std::vector<bool> growing_from(const sema::program& analysed, const std::vector<bool>& affected,
                                             const std::vector<bool>& erased, bool loses = false);

/// Returns the program in which all growing relations form one recursion, the last stratum, so that each of their atoms
/// may read a delta. The remaining relations are inputs. Rules that read no growing relation are dropped, because their
/// results exist already.
[[nodiscard]] sema::program recursion_of(const sema::program& analysed, const std::vector<bool>& growing);

/// The relations of a program that erases tuples by deletion and rederivation (Gupta, Mumick and Subrahmanian, SIGMOD
/// 1993), by relation of the analysed program; invalid for relations that do not grow.
struct erasing_relations {
  std::vector<relation_id> deleted;    ///< tuples with a derivation from an erased tuple
  std::vector<relation_id> rederived;  ///< deleted tuples with another derivation; invalid for inputs
};

/// Adds strata after the recursion of recursion_of(): a recursion that finds deleted tuples, and a stratum for each
/// relation with rules that finds rederived tuples.
erasing_relations add_erasing_strata(const sema::program& analysed, const std::vector<bool>& growing,
                                     sema::program& recursion);

}  // namespace gpulog::detail
