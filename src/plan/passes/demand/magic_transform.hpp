#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/planner.hpp"
#include "sema/program.hpp"

/// The magic-set transformation: evaluates relations only for queried values (Bancilhon and others, PODS 1986; Beeri,
/// Ramakrishnan, PODS 1987).
///
/// In `reach(x,y) :- edge(x,y). reach(x,z) :- reach(x,y), edge(y,z). from_a(y) :- reach("a",y).`, with from_a as the
/// only output, reach is queried with "a" in its first column: a goal with the adornment bf. The goal becomes
///
///     reach@2("a").
///     reach@1(x,y) :- reach@2(x), edge(x,y).
///     reach@1(x,z) :- reach@1(x,y), edge(y,z).
///     from_a(y) :- reach@1("a",y).
///
/// where reach@2 (the magic predicate) contains the queried values and reach@1 the answers. Rules of answers query
/// other relations in turn: passes/demand/sideways_passing.hpp describes the flow of values from literal to literal.
///
/// A relation is read either through goals or in full. Outputs, sizes and readers that bind no column need the full
/// relation. Facts and loaded rows stay in the original relation, and the answers read them from the original.
namespace gpulog::plan {

/// Result of the transformation.
struct magic_program {
  std::optional<sema::program> program;  ///< empty: unchanged
  std::vector<std::string> remarks;
};

/// Returns the program with the relations of goals appended; existing relations keep their numbers. The outputs do not
/// change. Without outputs, or if relations that no output needs must be complete, the program is unchanged. Goals are,
/// with constants: recursive relations that have no other readers; with any bound column: relations that `.pragma
/// "magic-transform"` or the qualifier `magic` names; with tuning_mode::always: all relations.
[[nodiscard]] magic_program transform_by_magic_sets(const sema::program& source, const statistics& known,
                                                    const options& chosen);

}  // namespace gpulog::plan
