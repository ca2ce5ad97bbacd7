#pragma once

#include <functional>
#include <optional>
#include <set>

#include "sema/program.hpp"

/// Right-linear recursions that are asked for constants (Naughton, Ramakrishnan, Sagiv, Ullman, SIGMOD 1989).
///
/// In `reach(x,y) :- edge(x,y). reach(x,z) :- edge(x,y), reach(y,z). out(z) :- reach(1,z).`, what is asked for is what
/// can be reached from 1, and the answer for each of these vertices would be a set of its own: its size is quadratic.
/// But only the answer for 1 is needed, and the column of answers is passed through unchanged. So the recursion becomes
/// one over the vertices alone,
///
///     reach@steps(x,y) :- edge(x,y).
///     reach@steps(x,z) :- reach@steps(x,y), edge(y,z).
///     reach(x,y) :- edge(x,y).
///     reach(x,z) :- reach@steps(x,y), edge(y,z).
///
/// which is left-linear: asked for one x, it has a tuple for each vertex.
namespace gpulog::plan {

struct linear_program {
  sema::program program;
  std::set<relation_id> turned;  ///< relations that are evaluated by their steps
};

/// Turns the recursions of one relation whose atoms outside of it all have constants in each column but those that its
/// rules pass through. @param may_change whether the relation may be another one than as written
/// @return nothing where there is none
[[nodiscard]] std::optional<linear_program> turn_right_linear(const sema::program& source,
                                                              const std::function<bool(relation_id)>& may_change);

}  // namespace gpulog::plan
