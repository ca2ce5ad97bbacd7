#pragma once

#include <vector>

#include "syntax/ast.hpp"

namespace gpulog::sema {

/// Whether the program declares a lattice (`.lattice T<> { Bottom -> b, Lub -> @f(_, _), Glb -> @g(_, _) }`).
[[nodiscard]] bool has_lattices(const std::vector<syntax::item>& items);

/// What attributes of type `T<>` mean, in the words of the language, as Soufflé 2.5 has it:
///
/// * For each value of its other attributes, a relation has one tuple. In each attribute of type `T<>` it holds the
///   least upper bound of the values that were derived. This is a subsumption, `r(x, a, b) <= r(x, c, d) :-
///   @f(a, c) = c, @g(b, d) = d.`. The tuple set derives the bounds (sema::relation::lattices).
/// * A variable of such attributes in several atoms, or one that equals a constant, is the greatest lower bound of
///   their values. A rule derives no bottom. An atom with a constant or computed value there matches where the lower
///   bound of both is not the bottom. A record or branch with variables takes the value apart.
///
/// A lattice without Glb or Bottom leaves bodies as they are. The items are those of a program without components; what
/// is wrong with a lattice is reported by `declarations`.
[[nodiscard]] std::vector<syntax::item> insert_lattice_operations(std::vector<syntax::item> items);

}  // namespace gpulog::sema
