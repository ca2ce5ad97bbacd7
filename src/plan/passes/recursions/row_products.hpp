#pragma once

#include <optional>

#include "plan/plan.hpp"

namespace gpulog::plan {

class planning;

/// Whether a stratum is a recursion of products, r(x,y) :- left(x,u), r(u,v), right(v,y); nothing when it is not. It is
/// one where all rules of the loop extend one relation of two columns from its delta, by a join on one column or on
/// both, and all or none of them ask for x != y. A rule may go through a supplementary relation.
[[nodiscard]] std::optional<product_recursion> find_product_recursion(const program& plan, std::size_t number);

/// For all strata.
void find_product_recursions(planning& shared);

}  // namespace gpulog::plan
