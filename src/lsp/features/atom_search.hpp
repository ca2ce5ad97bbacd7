#pragma once

#include <vector>

#include "sema/rewriting/syntax_walk.hpp"
#include "support/source.hpp"
#include "syntax/ast.hpp"

namespace gpulog::lsp {

/// The item that contains an atom.
struct atom_owner {
  source_span item;
  bool is_head = false;
  bool is_fact = false;
};

/// Calls action(atom, atom_owner) for all atoms of clauses and subsumptions, also in components and aggregates.
template <class Action>
void for_each_atom_in(const std::vector<syntax::item>& items, const Action& action) {
  for (const syntax::item& item : items) {
    if (const auto* clause = item.as<syntax::clause>()) {
      const atom_owner head = {clause->span, true, clause->body.empty()};
      for (const syntax::atom& atom : clause->heads) action(atom, head);
      sema::for_each_atom(clause->body, [&](const syntax::atom& atom) { action(atom, {clause->span}); });
    }
    if (const auto* subsumption = item.as<syntax::subsumption>()) {
      for (const syntax::atom* atom : {&subsumption->dominated, &subsumption->dominating})
        action(*atom, {subsumption->span});
      sema::for_each_atom(subsumption->body, [&](const syntax::atom& atom) { action(atom, {subsumption->span}); });
    }
    if (const auto* component = item.as<syntax::component>()) for_each_atom_in(component->items, action);
  }
}

/// Compares the places, which == of syntax::place does not.
inline bool is_at(const source_span& node, const source_span& span) { return node == span; }

}  // namespace gpulog::lsp
