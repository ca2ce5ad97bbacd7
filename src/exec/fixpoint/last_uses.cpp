#include "exec/fixpoint/last_uses.hpp"

#include <algorithm>

#include "plan/reads.hpp"

namespace gpulog::exec {

last_uses find_last_uses(const plan::program& program, const std::vector<bool>& may_run, bool with_others) {
  last_uses found;
  found.index.assign(program.indexes.size(), 0);
  found.set.assign(program.relations.size(), 0);
  found.set_needed.assign(program.relations.size(), last_uses::never);
  for (std::size_t number = 0; number < program.strata.size(); ++number) {
    const plan::stratum& stratum = program.strata[number];
    for (const relation_id relation : stratum.relations)
      found.set[relation.value] = std::max(found.set[relation.value], number);
    if (!may_run.empty() && !may_run[number]) continue;
    const auto need_set = [&](relation_id relation) {
      found.set[relation.value] = std::max(found.set[relation.value], number);
      found.set_needed[relation.value] = number;
    };
    for_each_version(stratum, [&](const plan::rule_version& version) {
      need_set(version.head);
      const auto note_read = [&](relation_id relation, index_id index, bool uses_set) {
        if (index.valid()) found.index[index.value] = number;
        if (uses_set) need_set(relation);
      };
      for_each_read(version, note_read, with_others);
    });
  }
  return found;
}

bool is_complete_after(const plan::program& program, std::size_t stratum, relation_id relation) {
  for (std::size_t later = stratum + 1; later < program.strata.size(); ++later) {
    const auto& extended = program.strata[later].relations;
    if (std::find(extended.begin(), extended.end(), relation) != extended.end()) return false;
  }
  return true;
}

}  // namespace gpulog::exec
