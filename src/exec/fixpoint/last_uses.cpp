#include "exec/fixpoint/last_uses.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "plan/reads.hpp"

namespace gpulog::exec {

last_uses find_last_uses(const plan::program& program, const std::vector<bool>& may_run, bool with_others) {
  last_uses uses;
  uses.index.assign(program.indexes.size(), 0);
  uses.set.assign(program.relations.size(), 0);
  uses.set_needed.assign(program.relations.size(), last_uses::never);
  for (std::size_t number = 0; number < program.strata.size(); ++number) {
    const plan::stratum& stratum = program.strata[number];
    for (const relation_id relation : stratum.relations)
      uses.set[relation.value] = std::max(uses.set[relation.value], number);
    if (!may_run.empty() && !may_run[number]) continue;
    const auto need_set = [&](relation_id relation) {
      uses.set[relation.value] = std::max(uses.set[relation.value], number);
      uses.set_needed[relation.value] = number;
    };
    for_each_version(stratum, [&](const plan::rule_version& version) {
      need_set(version.head);
      const auto note_read = [&](relation_id relation, index_id index, bool uses_set) {
        if (index.valid()) uses.index[index.value] = number;
        if (uses_set) need_set(relation);
      };
      for_each_read(version, note_read, with_others);
    });
  }
  uses.indexes_of.resize(program.strata.size());
  uses.sets_of.resize(program.strata.size());
  if (program.strata.empty()) return uses;
  for (std::uint32_t number = 0; number < uses.index.size(); ++number)
    uses.indexes_of[uses.index[number]].push_back(number);
  for (std::uint32_t number = 0; number < uses.set.size(); ++number) uses.sets_of[uses.set[number]].push_back(number);
  return uses;
}

void last_uses::use_index(std::size_t number, std::size_t stratum) {
  const bool is_new = index.size() <= number;
  if (is_new) index.resize(number + 1, 0);
  if (!is_new && index[number] >= stratum) return;
  index[number] = stratum;
  indexes_of[stratum].push_back(static_cast<std::uint32_t>(number));
}

}  // namespace gpulog::exec
