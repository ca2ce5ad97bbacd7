#include "exec/fixpoint/last_uses.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "plan/reads.hpp"
#include "support/error.hpp"

namespace gpulog::exec {

namespace {

/// A rule that reads a relation of the planner reads the relations of the rule as written instead, once the planner's
/// relation is abandoned.
void extend_uses_of_steps(last_uses& uses, const plan::program& program, bool with_others) {
  for (std::size_t number = program.strata.size(); number-- > 0;) {
    for_each_version(program.strata[number], [&](const plan::rule_version& version) {
      if (!program.relations[version.head.value].supplementary) return;
      const std::size_t last = uses.rows[version.head.value];
      for_each_read(
          version, [&](relation_id read, index_id, bool) { uses.use_rows(read, last); }, with_others);
    });
  }
}

}  // namespace

last_uses find_last_uses(const plan::program& program, const options& chosen, bool with_others) {
  last_uses uses;
  const std::vector<bool>& may_run = chosen.may_run;
  uses.index.assign(program.indexes.size(), 0);
  uses.set.assign(program.relations.size(), 0);
  uses.set_needed.assign(program.relations.size(), last_uses::never);
  uses.rows.assign(program.relations.size(), 0);
  uses.rows_of.resize(program.strata.size());
  if (!chosen.results.empty() && !chosen.continues && may_run.empty())
    uses.freed.assign(program.relations.size(), false);
  for (std::size_t number = 0; number < chosen.results.size(); ++number) {
    if (chosen.results[number]) uses.rows[number] = last_uses::never;
  }
  for (std::size_t number = 0; number < program.strata.size(); ++number) {
    const plan::stratum& stratum = program.strata[number];
    for (const relation_id relation : stratum.relations) {
      uses.set[relation.value] = std::max(uses.set[relation.value], number);
      uses.use_rows(relation, number);
    }
    if (!may_run.empty() && !may_run[number]) continue;
    const auto need_set = [&](relation_id relation) {
      uses.set[relation.value] = std::max(uses.set[relation.value], number);
      uses.set_needed[relation.value] = number;
    };
    for_each_version(stratum, [&](const plan::rule_version& version) {
      need_set(version.head);
      const auto note_read = [&](relation_id relation, index_id index, bool uses_set) {
        uses.use_rows(relation, number);
        if (index.valid()) uses.index[index.value] = number;
        if (uses_set) need_set(relation);
      };
      for_each_read(version, note_read, with_others);
    });
  }
  if (!uses.freed.empty()) extend_uses_of_steps(uses, program, with_others);
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

void last_uses::use_rows(relation_id relation, std::size_t stratum) {
  ensure(!has_freed(relation), "a plan reads a relation that nothing should read any more");
  std::size_t& last = rows[relation.value];
  if (last == never || last > stratum) return;
  last = stratum;
  rows_of[stratum].push_back(relation.value);
}

std::vector<relation_id> last_uses::take_unread(std::size_t stratum) {
  std::vector<relation_id> unread;
  if (freed.empty()) return unread;
  for (const std::uint32_t number : rows_of[stratum]) {
    if (rows[number] != stratum || freed[number]) continue;
    freed[number] = true;
    unread.emplace_back(number);
  }
  return unread;
}

}  // namespace gpulog::exec
