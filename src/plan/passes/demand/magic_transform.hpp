#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/planner.hpp"
#include "sema/program.hpp"

/// The magic-set transformation: relations are evaluated for what is asked for (Bancilhon and others, PODS 1986; Beeri,
/// Ramakrishnan, PODS 1987).
///
/// In `reach(x,y) :- edge(x,y). reach(x,z) :- reach(x,y), edge(y,z). from_a(y) :- reach("a",y).`, with from_a as the
/// only output, reach is asked for "a" in its first column: a goal, with the adornment bf. It becomes
///
///     reach@2("a").
///     reach@1(x,y) :- reach@2(x), edge(x,y).
///     reach@1(x,z) :- reach@1(x,y), edge(y,z).
///     from_a(y) :- reach@1("a",y).
///
/// where reach@2 has what is asked for (the magic predicate) and reach@1 the answers. Rules of answers ask in turn:
/// passes/demand/sideways_passing.hpp says how values get from literal to literal.
///
/// A relation is read either as goals or in full: outputs and sizes need all of it, and so does whoever binds no
/// column. Facts and loaded rows of a relation stay in it, and answers are taken from there.
namespace gpulog::plan {

/// What is asked of a program.
struct magic_program {
  std::optional<sema::program> program;  ///< nothing: it stays as it is
  std::vector<std::string> remarks;
};

/// The program with relations made for goals behind its own; those keep their numbers. All outputs stay the same.
/// Without outputs, or where relations are to be complete that no output needs, nothing is asked for.
/// Asked for are, by constants, recursive relations that are read in no other way; relations that `.pragma
/// "magic-transform"` or the qualifier `magic` names, in all ways; and with magic_transform_mode::always, all.
[[nodiscard]] magic_program transform_by_magic_sets(const sema::program& source, const statistics& known,
                                                    const options& chosen);

}  // namespace gpulog::plan
