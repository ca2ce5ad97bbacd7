#pragma once

#include "exec/strategies/condensation/condensation_strategy.hpp"
#include "exec/strategies/loop/loop_strategy.hpp"
#include "exec/strategies/products/product_strategy.hpp"
#include "exec/strategies/row_wise/row_wise_strategy.hpp"
#include "exec/strategies/search/search_strategy.hpp"
#include "exec/strategies/search/takeover_strategy.hpp"
#include "exec/strategies/strategy.hpp"

/// All strategies for strata, in the order of preference. The last strategy of each list is always applicable.
/// Strategies for versions are in version_strategies.hpp.
namespace gpulog::exec {

/// For the part before the loop, or for a stratum without a loop.
template <class Machine>
inline constexpr stratum_strategy<Machine> once_strategies[] = {
    {"row-products", multiply_rows_from_start<Machine>},
    {"row-wise-evaluation", evaluate_row_wise<Machine>},
    {"versions", run_once<Machine>},
};

/// For the loop.
template <class Machine>
inline constexpr stratum_strategy<Machine> loop_strategies[] = {
    {"condensation", condense<Machine>},
    {"row-takeover", search_with_rows<Machine>},
    {"search", search_each<Machine>},
    {"row-products", multiply_rows<Machine>},
    {.name = "loop", .run = run_loop<Machine>, .resumes = true},
};

}  // namespace gpulog::exec
