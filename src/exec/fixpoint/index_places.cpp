#include "exec/fixpoint/index_places.hpp"

#include <algorithm>

namespace gpulog::exec {

storage::index_layout make_layout(const plan::index& planned, storage::storage_mode mode) {
  storage::index_layout layout;
  layout.order = planned.order;
  layout.key_lengths = planned.key_lengths;
  if (mode == storage::storage_mode::hisa) {
    layout.positions = true;
    layout.load = storage::hisa_set::load_factor;
    return layout;
  }
  // A search by a short prefix also reads the key columns after the prefix.
  layout.stored.assign(planned.order.begin() + static_cast<std::ptrdiff_t>(planned.key_lengths.front()),
                       planned.order.begin() + static_cast<std::ptrdiff_t>(planned.key_lengths.back()));
  for (std::uint32_t column : planned.payload) {
    if (std::find(layout.stored.begin(), layout.stored.end(), column) == layout.stored.end())
      layout.stored.push_back(column);
  }
  return layout;
}

std::vector<index_place> place_indexes(const plan::program& program) {
  std::vector<std::size_t> next(program.relations.size(), 0);
  std::vector<index_place> places;
  for (const plan::index& planned : program.indexes)
    places.push_back({planned.relation, next[planned.relation.value]++});
  return places;
}

}  // namespace gpulog::exec
