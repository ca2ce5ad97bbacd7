#pragma once

#include "kernels/join/pipeline.hpp"

namespace gpulog::kernels {

/// action(relation, index) for each index that a pipeline may search.
template <class Action>
void for_each_searched_index(const pipeline& program, const Action& action) {
  const auto visit_step = [&](const step& one) {
    if (one.kind == step_kind::exists_key) action(one.source, one.index);
  };
  for (const segment& one : program.segments) {
    if (one.kind == expansion_kind::match && one.choices.empty()) action(one.source, one.index);
    for (const search_choice& choice : one.choices) {
      action(choice.source, choice.index);
      for (const step& check : choice.checks) visit_step(check);
    }
    for (const step& made : one.steps) visit_step(made);
  }
}

/// Before several workers run a pipeline: brings its indexes up to date.
template <class Relation>
void refresh_searched(const pipeline& program, const relation_list<Relation>& relations) {
  if (program.indexes == nullptr) return;
  for_each_searched_index(program, [&](relation_number source, std::size_t index) {
    if (!relations[source]->is_fresh(index)) program.indexes->refresh(source, index);
  });
}

}  // namespace gpulog::kernels
