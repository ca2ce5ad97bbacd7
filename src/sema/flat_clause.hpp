#pragma once

#include "sema/clause_expansion.hpp"
#include "sema/program.hpp"
#include "syntax/ast.hpp"

namespace gpulog::sema {

/// One head with one conjunction of its clause; relations are known to exist and to have the right arity.
struct flat_clause {
  const syntax::clause* clause = nullptr;
  const syntax::atom* head = nullptr;
  const flat_conjunction* body = nullptr;
  relation_id head_relation;
  std::vector<relation_id> body_relations;  ///< by literal; invalid for what is not an atom

  [[nodiscard]] bool is_fact() const { return clause->body.empty(); }
};

}  // namespace gpulog::sema
