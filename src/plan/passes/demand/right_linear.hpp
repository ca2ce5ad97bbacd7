#pragma once

#include <functional>
#include <optional>
#include <set>

#include "sema/program.hpp"

/// Right-linear recursions queried with constants (Naughton, Ramakrishnan, Sagiv, Ullman, SIGMOD 1989).
///
/// In `reach(x,y) :- edge(x,y). reach(x,z) :- edge(x,y), reach(y,z). out(z) :- reach(1,z).`, every vertex reachable
/// from 1 becomes a queried value, and each of these vertices would get a separate set of answers: the total size is
/// quadratic. But only the answers for 1 are needed, and the recursion passes the answer column through unchanged. The
/// recursion is therefore rewritten into a recursion over the vertices alone,
///
///     reach@steps(x,y) :- edge(x,y).
///     reach@steps(x,z) :- reach@steps(x,y), edge(y,z).
///     reach(x,y) :- edge(x,y).
///     reach(x,z) :- reach@steps(x,y), edge(y,z).
///
/// which is left-linear: queried with one x, reach has one tuple per vertex.
namespace gpulog::plan {

struct linear_program {
  sema::program program;
  std::set<relation_id> turned;  ///< relations evaluated by steps
};

/// Rewrites recursions of a single relation if all atoms outside the recursion have constants in every column that the
/// rules do not pass through.
/// @param may_change whether the rules of a relation may change
/// @return empty if no relation qualifies
[[nodiscard]] std::optional<linear_program> turn_right_linear(const sema::program& source,
                                                              const std::function<bool(relation_id)>& may_change);

}  // namespace gpulog::plan
