#pragma once

#include <vector>

#include "syntax/ast.hpp"

namespace gpulog::sema {

/// Whether the program declares a lattice (`.lattice T<> { Bottom -> b, Lub -> @f(_, _), Glb -> @g(_, _) }`).
[[nodiscard]] bool has_lattices(const std::vector<syntax::item>& items);

/// What attributes of type `T<>` mean, in the words of the language, as Soufflé 2.5 has it:
///
/// * of the tuples of a relation that agree in all attributes of other types there is one, which holds the least upper
///   bound of all values that were derived, for each such attribute its own. That is a subsumption, `r(x, a, b) <=
///   r(x, c, d) :- @f(a, c) = c, @g(b, d) = d.`; that the bounds themselves are derived the tuple set sees to
///   (sema::relation::lattices);
/// * where such an attribute's variable gets values from several atoms (or is said to equal a constant), it is their
///   greatest lower bound; a rule passes on no bottom. A constant or computed value that is asked of such an attribute
///   need only have a lower bound with it that is not the bottom. A record or branch with variables takes it apart.
///
/// A lattice without Glb or Bottom leaves bodies as they are. The items are those of a program without components; what
/// is wrong with a lattice is reported by `declarations`.
[[nodiscard]] std::vector<syntax::item> insert_lattice_operations(std::vector<syntax::item> items);

}  // namespace gpulog::sema
