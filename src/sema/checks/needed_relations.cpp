#include "sema/checks/needed_relations.hpp"

#include <cstdint>

namespace gpulog::sema {

std::vector<bool> needed_relations(const program& analysed) {
  std::vector<std::vector<relation_id>> read_for(analysed.relations.size());
  for (const dependency& edge : analysed.dependencies) read_for[edge.to.value].push_back(edge.from);
  std::vector<bool> needed(analysed.relations.size(), false);
  std::vector<relation_id> waiting;
  const auto need = [&](relation_id id) {
    if (needed[id.value]) return;
    needed[id.value] = true;
    waiting.push_back(id);
  };
  for (std::uint32_t number = 0; number < analysed.relations.size(); ++number) {
    const relation& one = analysed.relations[number];
    if (one.has_directive(directive_kind::output) || one.has_directive(directive_kind::printsize)) {
      need(relation_id(number));
    }
  }
  while (!waiting.empty()) {
    const relation_id next = waiting.back();
    waiting.pop_back();
    for (const relation_id read : read_for[next.value]) need(read);
  }
  return needed;
}

}  // namespace gpulog::sema
