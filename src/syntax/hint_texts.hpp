#pragma once

#include <string>
#include <string_view>

#include "support/option_names.hpp"

/// Sentences that more than one mistake leads to.
namespace gpulog::syntax {

inline constexpr std::string_view equality_hint = "Equality is written =: x = y + 1";
inline constexpr std::string_view inequality_hint = "Inequality is written !=";
inline constexpr std::string_view less_hint = "Less or equal is written <=";
inline constexpr std::string_view greater_hint = "Greater or equal is written >=";
inline constexpr std::string_view conjunction_hint = "Literals are joined with a comma: a(x), b(x)";
inline constexpr std::string_view disjunction_hint = "Alternatives are separated by a semicolon: a(x) ; b(x)";
inline constexpr std::string_view negation_hint = "Negation is written !: a(x), !b(x)";
inline constexpr std::string_view rule_form = "A rule is written head :- body.";
inline constexpr std::string_view comment_form = "A comment is written // to the end of the line, or /* ... */";
inline constexpr std::string_view symbol_form = "A symbol is written in double quotes: \"a\"";
inline constexpr std::string_view concatenation_hint = "Symbols are joined by cat: cat(\"a\", \"b\")";
inline constexpr std::string_view bool_hint =
    "There is no type bool: use a number that is 0 or 1, or an ADT such as .type Bool = Yes {} | No {}";
inline constexpr std::string_view branch_form = "A branch of an algebraic data type has braces: A {x:number}, B {}";

inline std::string query_hint() {
  const bool is_flag = current_option_form() == option_form::flag;
  return std::string("A query is not part of a program: ask it with ") + (is_flag ? "--query 'p(x)'" : "query('p(x)')");
}

}  // namespace gpulog::syntax
