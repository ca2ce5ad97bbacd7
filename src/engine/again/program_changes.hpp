#pragma once

#include <vector>

#include "sema/program.hpp"

/// What a program has that goes further than another one.
namespace gpulog::detail {

/// Whether all that is there of the relations of a program is good for another one: it declares the same relations,
/// types and functors in front, and has the same facts in front.
[[nodiscard]] bool extends(const sema::program& next, const sema::program& before);

/// By relation of the longer program: those that the other one has with the same rules. What was a query before is
/// none.
[[nodiscard]] std::vector<bool> with_same_rules(const sema::program& next, const sema::program& before);

}  // namespace gpulog::detail
