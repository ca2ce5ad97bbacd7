#pragma once

#include <string>
#include <string_view>

#include "sema/program.hpp"

/// The analysed program as readable text, for --show and messages.
namespace gpulog::sema {

[[nodiscard]] std::string to_text(const program& program, const rule& rule, const expression& expression);
[[nodiscard]] std::string to_text(const program& program, const rule& rule, const literal& part);
/// "head(x,z) :- body(x,y), y < z." on one line.
[[nodiscard]] std::string to_text(const program& program, const rule& rule);
/// The same nearer to the program: without variables that desugaring made, where something defines them, and without
/// what it added to names. For messages.
[[nodiscard]] std::string source_text(const program& program, const rule& rule);
/// As source_text() has it: names and body of the rule.
[[nodiscard]] rule as_in_source(const program& program, const rule& rule);
/// Declarations, facts, directives and rules, stratum by stratum (--show transformed-ast).
[[nodiscard]] std::string to_text(const program& program);

/// --show precedence-graph-text: for each relation what it depends on.
[[nodiscard]] std::string precedence_graph_text(const program& program);
/// --show precedence-graph: the same in the language of Graphviz.
[[nodiscard]] std::string precedence_graph(const program& program);
/// --show scc-graph-text: the strata in evaluation order, with the strata that each needs.
[[nodiscard]] std::string scc_graph_text(const program& program);
/// --show scc-graph: the same in the language of Graphviz.
[[nodiscard]] std::string scc_graph(const program& program);

/// A constant of a kind that has numbers.
[[nodiscard]] std::string number_text(value_kind kind, wide_word value, word_size words);

/// The text without what the analysis made of names: "x@1" is the x that the program has. Texts in quotes stay.
[[nodiscard]] std::string without_made_names(std::string_view text);

/// "<", "match", ...; for typed comparisons without the type.
[[nodiscard]] std::string_view comparison_text(comparison_op op);
/// "count", "sum", ...
[[nodiscard]] std::string_view fold_text(fold_op op);
/// "+", "band", "to_string", ... as written in programs.
[[nodiscard]] std::string_view operation_text(scalar_op op);

}  // namespace gpulog::sema
