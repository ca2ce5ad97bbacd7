#pragma once

#include <vector>

#include "sema/program.hpp"

/// What a program has that goes further than another one.
namespace gpulog::detail {

/// Whether another program can take over all rows of a program's relations: its declarations of relations, types and
/// functors begin with the same ones, and so do its facts.
[[nodiscard]] bool extends(const sema::program& next, const sema::program& before);

/// By relation of the longer program: whether the other one has it with the same rules. A query of the other program
/// does not count.
[[nodiscard]] std::vector<bool> with_same_rules(const sema::program& next, const sema::program& before);

}  // namespace gpulog::detail
