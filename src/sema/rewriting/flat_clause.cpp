#include "sema/rewriting/flat_clause.hpp"

#include "sema/rewriting/syntax_walk.hpp"
#include "sema/types/declarations.hpp"

namespace gpulog::sema {

namespace {

std::vector<relation_id> relations_of(const flat_conjunction& body, const declarations& declared) {
  std::vector<relation_id> relations;
  for (const flat_literal& part : body) {
    const auto* atom = part.literal->as<syntax::atom>();
    relations.push_back(atom == nullptr ? relation_id() : *declared.find_relation(atom->name.text));
  }
  return relations;
}

}  // namespace

flat_clause flatten(const syntax::clause& clause, const syntax::atom& head, const flat_conjunction& body,
                    const declarations& declared, diagnostics& diagnostics) {
  flat_clause flat{&clause, &head, &body, *declared.find_relation(head.name.text), relations_of(body, declared), {}};
  const auto add_aggregate = [&](const syntax::argument& term) {
    const auto* aggregate = term.as<syntax::aggregate>();
    if (aggregate == nullptr) return true;
    flat_aggregate& added = flat.aggregates[aggregate];
    auto bodies = expand_body(aggregate->body, term.span, diagnostics);
    if (bodies && !bodies->empty()) added.body = std::move(bodies->front());
    if (bodies && bodies->size() != 1) {
      diagnostics.error(term.span, "Disjunctions in aggregation clauses are not supported");
    }
    added.relations = relations_of(added.body, declared);
    return true;
  };
  walk_terms(head, add_aggregate);
  for (const flat_literal& part : body) walk_terms(*part.literal, add_aggregate);
  return flat;
}

}  // namespace gpulog::sema
