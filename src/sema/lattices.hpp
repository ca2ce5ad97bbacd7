#pragma once

#include <vector>

#include "syntax/ast.hpp"

namespace gpulog::sema {

/// Whether the program declares a lattice (`.lattice T<> { Bottom -> b, Lub -> @f(_, _), Glb -> @g(_, _) }`).
[[nodiscard]] bool has_lattices(const std::vector<syntax::item>& items);

/// What attributes of type `T<>` mean, in the words of the language, as Soufflé 2.5 has it:
///
/// * of the tuples of such a relation that agree in all other attributes there is one, whose value is the least upper
///   bound of all that were derived. That is a subsumption, `r(x, a) <= r(x, b) :- @f(a, b) = b.`; that the bound
///   itself is derived the tuple set sees to (sema::relation::lattice);
/// * where such an attribute's variable gets values from several atoms (or is said to equal a constant), it is their
///   greatest lower bound; a rule passes on no bottom. A constant or computed value that is asked of such an attribute
///   need only have a lower bound with it that is not the bottom. A record or branch with variables takes it apart.
///
/// A lattice without Glb or Bottom leaves bodies as they are. The items are those of a program without components; what
/// is wrong with a lattice is reported by `declarations`.
[[nodiscard]] std::vector<syntax::item> insert_lattice_operations(std::vector<syntax::item> items);

}  // namespace gpulog::sema
