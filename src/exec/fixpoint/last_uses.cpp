#include "exec/fixpoint/last_uses.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

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
  found.indexes_of.resize(program.strata.size());
  found.sets_of.resize(program.strata.size());
  if (program.strata.empty()) return found;
  for (std::uint32_t number = 0; number < found.index.size(); ++number)
    found.indexes_of[found.index[number]].push_back(number);
  for (std::uint32_t number = 0; number < found.set.size(); ++number)
    found.sets_of[found.set[number]].push_back(number);
  return found;
}

void last_uses::use_index(std::size_t number, std::size_t stratum) {
  const bool is_new = index.size() <= number;
  if (is_new) index.resize(number + 1, 0);
  if (!is_new && index[number] >= stratum) return;
  index[number] = stratum;
  indexes_of[stratum].push_back(static_cast<std::uint32_t>(number));
}

}  // namespace gpulog::exec
