#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sema/program.hpp"

namespace gpulog::sema {

/// Why the aggregates of a cycle can't be evaluated with it.
struct aggregate_refusal {
  source_span span;
  std::string reason;
};

/// Rewrites aggregates over relations of their own cycle, where all that is read of them is monotone (docs/adr/0020).
///
/// A min or max aggregate may be a column of its rule's head: `dist(y,d) :- node(y), d = min c+w : { dist(x,c),
/// edge(x,y,w) }.`. Then the relation keeps the best tuple for each value of its other columns: the body takes the
/// aggregate's place, and a subsumption is added. As such a relation loses values that get better, whatever is computed
/// of a value must get better with it, and a comparison that was true must stay true.
/// A count or sum that is compared with a lower bound stays, with a copy of its body beside it (aggregate::grows).
///
/// For relations with such a subsumption in the program, this finds whether the same is true of their cycle
/// (relation::priority_delta, where it pays).
///
/// @param cycle_of by relation: a number that relations share when they depend on each other
/// @return by cycle: those with an aggregate that can't; their rules are left as they are
std::map<std::uint32_t, aggregate_refusal> unfold_recursive_aggregates(program& program,
                                                                       const std::vector<std::uint32_t>& cycle_of);

}  // namespace gpulog::sema
