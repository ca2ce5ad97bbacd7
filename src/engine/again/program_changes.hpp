#pragma once

#include <vector>

#include "sema/program.hpp"

/// Compares a program with an extension of the program.
namespace gpulog::detail {

/// Returns whether a program can take over all rows of `before`: its declarations of relations, types and functors
/// begin with those of `before`, and so do its facts.
[[nodiscard]] bool extends(const sema::program& next, const sema::program& before);

/// Returns, by relation of `next`, whether `before` has the relation with the same rules; false for queries of
/// `before`.
[[nodiscard]] std::vector<bool> with_same_rules(const sema::program& next, const sema::program& before);

}  // namespace gpulog::detail
