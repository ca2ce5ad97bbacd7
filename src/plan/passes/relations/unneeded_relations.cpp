#include "plan/passes/relations/unneeded_relations.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "plan/planning.hpp"
#include "sema/checks/needed_relations.hpp"

namespace gpulog::plan {

void leave_out_unneeded_relations(planning& shared) {
  shared.needed = sema::needed_relations(shared.source);
  std::vector<std::string> names;
  for (std::uint32_t number = 0; number < shared.needed.size(); ++number) {
    const sema::relation& relation = shared.source.relations[number];
    shared.result.relations[number].is_left_out = !shared.needed[number];
    if (!shared.needed[number] && !relation.is_inline) names.push_back(relation.name);
  }
  if (!names.empty())
    shared.remark(fmt::format("omitted, because no output depends on them: {}", fmt::join(names, ", ")));
  std::erase_if(shared.result.facts, [&](const fact_block& block) { return !shared.needed[block.relation.value]; });
}

}  // namespace gpulog::plan
