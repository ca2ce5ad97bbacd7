#pragma once

#include <vector>

#include "syntax/ast.hpp"

namespace gpulog::sema {

/// Returns whether the program declares a lattice (`.lattice T<> { Bottom -> b, Lub -> @f(_, _), Glb -> @g(_, _) }`).
[[nodiscard]] bool has_lattices(const std::vector<syntax::item>& items);

/// Translates attributes of type `T<>` into core constructs, with the semantics of Soufflé 2.5:
///
/// - For each combination of the other attributes, a relation has one tuple. Each attribute of type `T<>` holds the
///   least upper bound of the derived values. This is a subsumption, `r(x, a, b) <= r(x, c, d) :- @f(a, c) = c, @g(b,
///   d) = d.`. The tuple set computes the bounds (sema::relation::lattices).
/// - A variable of such attributes in several atoms, or a variable that equals a constant, is the greatest lower bound
///   of the values. A rule never derives a bottom. An atom with a constant or computed value in the attribute matches
///   if the lower bound of both is not the bottom. A record or branch with variables destructures the value.
///
/// A lattice without Glb or Bottom leaves bodies unchanged. The items are those of a program without components;
/// `declarations` reports errors in lattices.
[[nodiscard]] std::vector<syntax::item> insert_lattice_operations(std::vector<syntax::item> items);

}  // namespace gpulog::sema
