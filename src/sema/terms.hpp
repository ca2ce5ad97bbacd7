#pragma once

#include <string>
#include <utility>

#include "syntax/ast.hpp"

/// Builds small parts of clauses.
namespace gpulog::sema {

[[nodiscard]] inline bool is_unnamed(const syntax::argument& term) {
  return term.as<syntax::unnamed_variable>() != nullptr;
}

[[nodiscard]] inline syntax::argument variable_term(std::string name, const syntax::place& span) {
  return {syntax::variable{std::move(name)}, span};
}

[[nodiscard]] inline syntax::literal equality_of(syntax::argument left, syntax::argument right,
                                                 const syntax::place& span) {
  return {syntax::constraint{syntax::constraint_op::equal, std::move(left), std::move(right)}, span};
}

}  // namespace gpulog::sema
