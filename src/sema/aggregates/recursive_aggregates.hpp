#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sema/program.hpp"

namespace gpulog::sema {

/// The reason why a cycle's aggregates cannot be evaluated recursively.
struct aggregate_refusal {
  source_span span;
  std::string reason;
};

/// Rewrites aggregates over relations of their own cycle if every use of the aggregated values is monotone
/// (docs/adr/0020).
///
/// A min or max aggregate may be a column of its rule's head: `dist(y,d) :- node(y), d = min c+w : { dist(x,c),
/// edge(x,y,w) }.`. The relation then keeps the best tuple for each combination of the remaining columns: the body
/// replaces the aggregate, and a subsumption is added. Because better values replace worse values, every value computed
/// from the column must improve too, and a true comparison must stay true. A count or sum that is compared with a lower
/// bound remains, together with a copy of the aggregate's body (aggregate::grows).
///
/// For relations with an equivalent subsumption in the program, the function checks whether the same conditions hold in
/// the cycle, and sets relation::priority_delta where a priority delta pays.
///
/// @param cycle_of by relation: a number that mutually dependent relations share
/// @return by cycle: refusals; the rules of a refused cycle are unchanged
std::map<std::uint32_t, aggregate_refusal> unfold_recursive_aggregates(program& program,
                                                                       const std::vector<std::uint32_t>& cycle_of);

}  // namespace gpulog::sema
