#pragma once

#include <vector>

#include "syntax/ast.hpp"

namespace gpulog::sema {

/// Replaces the literals `starts_with(text, start)` and `ends_with(text, end)`, which the parser reads as atoms, by
/// comparisons of the functor's value with 0. In a program that declares a relation of this name, they are atoms.
void replace_text_tests(syntax::program& program, std::vector<syntax::query>& queries);

}  // namespace gpulog::sema
