#pragma once

#include <unordered_map>
#include <vector>

#include "sema/program.hpp"
#include "sema/rewriting/clause_expansion.hpp"
#include "support/diagnostics.hpp"
#include "syntax/ast.hpp"

namespace gpulog::sema {

class declarations;

/// The body of an aggregate as one conjunction.
struct flat_aggregate {
  flat_conjunction body;
  std::vector<relation_id> relations;  ///< by literal; invalid if the literal is not an atom
};

/// One head with one conjunction of a clause. All relations exist and have the right arity.
struct flat_clause {
  const syntax::clause* clause = nullptr;
  const syntax::atom* head = nullptr;
  const flat_conjunction* body = nullptr;
  relation_id head_relation;
  std::vector<relation_id> body_relations;  ///< by literal; invalid if the literal is not an atom
  std::unordered_map<const syntax::aggregate*, flat_aggregate> aggregates;  ///< all aggregates, including nested ones

  [[nodiscard]] bool is_fact() const { return clause->body.empty(); }
};

/// Returns the flat clause, which refers to the clause, the head and the body. Reports disjunctions in aggregates.
[[nodiscard]] flat_clause flatten(const syntax::clause& clause, const syntax::atom& head, const flat_conjunction& body,
                                  const declarations& declared, diagnostics& diagnostics);

}  // namespace gpulog::sema
