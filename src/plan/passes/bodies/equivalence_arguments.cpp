#include "plan/passes/bodies/equivalence_arguments.hpp"

#include "plan/planning.hpp"

namespace gpulog::plan {

void mark_equivalences(const planning& shared, normalized_rule& rule) {
  for (body_atom& atom : rule.atoms) {
    atom.is_equivalence = shared.equivalences.contains(atom.relation);
    if (atom.is_equivalence && atom.arguments[0].is_variable() && atom.arguments[0] == atom.arguments[1]) {
      atom.arguments[1].what = term::form::unnamed;
    }
  }
}

}  // namespace gpulog::plan
