#pragma once

#include <optional>

#include "plan/plan.hpp"

namespace gpulog::plan {

class planning;

/// Recognizes a recursion of row products, r(x,y) :- left(x,u), r(u,v), right(v,y); returns nothing for other strata.
/// All rules of the loop extend one relation of two columns from its delta, by a join on one column or on both, and
/// either all rules or no rules require x != y. A rule may use a supplementary relation in between.
[[nodiscard]] std::optional<product_recursion> find_product_recursion(const program& plan, std::size_t number);

/// Applies find_product_recursion to all strata.
void find_product_recursions(planning& shared);

}  // namespace gpulog::plan
