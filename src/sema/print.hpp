#pragma once

#include <string>
#include <string_view>

#include "sema/program.hpp"

/// Formats the analysed program for --show and messages.
namespace gpulog::sema {

[[nodiscard]] std::string to_text(const program& program, const rule& rule, const expression& expression);
[[nodiscard]] std::string to_text(const program& program, const rule& rule, const literal& part);
/// Returns the rule on one line, for example "head(x,z) :- body(x,y), y < z."
[[nodiscard]] std::string to_text(const program& program, const rule& rule);
/// Returns the fact without a dot, for example "edge(1,2)".
[[nodiscard]] std::string to_text(const program& program, const fact& fact);
/// Returns the rule in a form closer to the source: without defined variables that desugaring created, and without
/// suffixes of generated names. For messages.
[[nodiscard]] std::string source_text(const program& program, const rule& rule);
/// Returns the names and body in the form of source_text().
[[nodiscard]] rule as_in_source(const program& program, const rule& rule);
/// Returns declarations, facts, directives and rules, stratum by stratum (--show transformed-ast).
[[nodiscard]] std::string to_text(const program& program);

/// Returns the dependencies of each relation (--show precedence-graph-text).
[[nodiscard]] std::string precedence_graph_text(const program& program);
/// Returns the same in the language of Graphviz (--show precedence-graph).
[[nodiscard]] std::string precedence_graph(const program& program);
/// Returns the strata in evaluation order, each with the strata that it depends on (--show scc-graph-text).
[[nodiscard]] std::string scc_graph_text(const program& program);
/// Returns the same in the language of Graphviz (--show scc-graph).
[[nodiscard]] std::string scc_graph(const program& program);

/// Formats a constant of a numeric kind.
[[nodiscard]] std::string number_text(value_kind kind, wide_word value, word_size words);

/// Removes suffixes of generated names: "x@1" becomes the program's x. Quoted texts are unchanged.
[[nodiscard]] std::string without_made_names(std::string_view text);

/// Returns the source text of a comparison ("<", "match", ...), without the type.
[[nodiscard]] std::string_view comparison_text(comparison_op op);
/// Returns the source text of an aggregate ("count", "sum", ...).
[[nodiscard]] std::string_view fold_text(fold_op op);
/// Returns the source text of an operation ("+", "band", "to_string", ...).
[[nodiscard]] std::string_view operation_text(scalar_op op);

}  // namespace gpulog::sema
