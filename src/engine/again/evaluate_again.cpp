#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "engine/again/affected.hpp"
#include "engine/engine_state.hpp"
#include "engine/figures/run_figures.hpp"
#include "engine/proofs/proof_search.hpp"
#include "gpulog/error.hpp"

/// Reevaluates the relations that depend on facts changed after an evaluation.
namespace gpulog::detail {

namespace {

/// Number of pairs of an equivalence relation that are read per block.
constexpr std::uint64_t pairs_staged = std::uint64_t{1} << 20;

}  // namespace

void engine_state::require_changes() const {
  if (done == step::evaluating) throw input_error("facts cannot be changed while the program is being evaluated");
  if (done == step::failed) throw input_error("an evaluation has failed: the engine has to be reset");
}

void engine_state::require_changeable(std::uint32_t relation) const {
  if (done == step::evaluating) {
    throw input_error("relation " + analysed().relations[relation].name +
                      " cannot be changed while the program is being evaluated");
  }
  require_changes();
}

void engine_state::erase(std::uint32_t relation, std::vector<word> row) {
  erased_rows& rows = erased[relation];
  rows.latest = rows.blocks_before[std::move(row)] = staged[relation].size();
  if (homes.empty()) drop_erased(staged[relation], rows);
}

void engine_state::reset() {
  if (done == step::evaluating) throw input_error("the engine cannot be reset while the program is being evaluated");
  renewal.reset();
  const exec::run_monitor::holding held(monitor);
  monitor.begin_run();
  proofs.reset();
  row_indexes.clear();
  classes.clear();
  homes.clear();
  current.reset();
  continuing.reset();
  latest.clear();
  waiting.clear();
  seconds_anew = 0;
  loaded.assign(loaded.size(), false);
  stale.assign(stale.size(), false);
  files_read.clear();
  reads_files_once = false;
  for (auto* const facts : {&staged, &kept}) {
    for (auto& blocks : *facts) blocks.clear();
  }
  for (erased_rows& rows : erased) rows = {};
  counter = 0;
  fact_files = 0;
  begin_figures();
  begin_record();
  done = step::loading;
}

/// Returns the program without erased facts of its text.
std::shared_ptr<const sema::program> engine_state::first_program() {
  const auto is_erased = [this](const sema::fact& fact) {
    const erased_rows& rows = erased[fact.relation.value];
    return !rows.empty() && rows.blocks_before.contains(row_of(fact));
  };
  const auto& facts = analysed().facts;
  if (std::none_of(facts.begin(), facts.end(), is_erased)) return {source, &analysed()};
  auto changed = std::make_shared<sema::program>(analysed());
  std::erase_if(changed->facts, is_erased);
  return changed;
}

std::vector<word> engine_state::row_of(const sema::fact& fact) {
  std::vector<word> row;
  for (const wide_word value : fact.values) row.push_back(storage::word_of(value, wide_or_none()));
  return row;
}

/// Keeps copies of facts that cannot be distinguished from derived rows after the evaluation.
void engine_state::keep_facts(const sema::program& first) {
  for (std::uint32_t number = 0; number < staged.size(); ++number) {
    if (!needed[number]) continue;
    erased[number] = {};
    if (is_plain_input(analysed().relations[number])) continue;
    for (const staged_rows& block : staged[number]) kept[number].push_back(copy_of(block, memory));
  }
  std::map<std::uint32_t, staged_rows> blocks;
  for (const sema::fact& fact : first.facts) {
    if (!needed[fact.relation.value] || is_plain_input(analysed()[fact.relation])) continue;
    append_row(blocks[fact.relation.value], row_of(fact), memory);
  }
  for (auto& [number, block] : blocks) kept[number].push_back(std::move(block));
}

engine_state::changes engine_state::find_changes() const {
  changes result{std::vector<bool>(staged.size()), std::vector<bool>(staged.size()), {}, {}};
  for (std::size_t number = 0; number < staged.size(); ++number) {
    const auto& blocks = staged[number];
    result.erased[number] = !erased[number].empty() || !is_complete(relation_id(static_cast<std::uint32_t>(number)));
    result.changed[number] =
        !erased[number].empty() || stale[number] || !homes[number] ||
        std::any_of(blocks.begin(), blocks.end(), [](const auto& block) { return block.rows != 0; });
  }
  const std::vector<bool> reached = affected_by(analysed(), result.changed);
  result.affected = reached;
  for (std::size_t number = 0; number < staged.size(); ++number)
    result.affected[number] = result.affected[number] && needed[number];
  result.affected = with_incomplete(std::move(result.affected));
  result.left = without(reached, result.affected);
  return result;
}

/// Stages the earlier facts before the inserted facts, and removes the erased facts from both.
void engine_state::stage_facts_of(std::uint32_t relation) {
  auto inserted = std::exchange(staged[relation], {});
  auto& blocks = staged[relation];
  if (is_plain_input(analysed().relations[relation])) {
    if (homes[relation]) stage_results_of(relation);
  } else {
    blocks = std::exchange(kept[relation], {});
  }
  const std::size_t before = blocks.size();
  std::move(inserted.begin(), inserted.end(), std::back_inserter(blocks));
  drop_erased(blocks, std::exchange(erased[relation], {}), before);
  std::erase_if(blocks, [](const staged_rows& block) { return block.rows == 0; });
  if (is_plain_input(analysed().relations[relation])) return;
  for (const staged_rows& block : blocks) kept[relation].push_back(copy_of(block, memory));
}

/// Stages the results of the relation's last evaluation, as input of an evaluation that reads the relation.
void engine_state::stage_results_of(std::uint32_t relation) {
  const exec::executor& home = *homes[relation]->executor;
  const relation_id id(relation);
  const std::size_t arity = analysed().relations[relation].attributes.size();
  const std::uint64_t most = is_equivalence(relation) ? pairs_staged : home.rows(id);
  for (std::uint64_t first = 0; first < home.rows(id); first += most) {
    staged_rows& block = staged[relation].emplace_back();
    block.rows = std::min(most, home.rows(id) - first);
    std::vector<word*> columns;
    for (std::size_t c = 0; c < arity; ++c) columns.push_back(block.columns.emplace_back(memory, block.rows).data());
    if (is_equivalence(relation)) {
      home.read_pairs(id, first, block.rows, columns.data());
    } else {
      for (std::size_t c = 0; c < arity; ++c) std::copy_n(columns_of(relation)[c], block.rows, columns[c]);
    }
  }
}

void engine_state::move_home(const std::vector<bool>& relations) {
  proofs.reset();
  for (std::uint32_t number = 0; number < relations.size(); ++number) {
    if (!relations[number]) continue;
    row_indexes.erase(number);
    classes.erase(number);
    homes[number] = current;
  }
}

/// Adds the relations read by affected relations whose last evaluation contains only queried tuples.
std::vector<bool> engine_state::with_incomplete(std::vector<bool> affected) const {
  const auto is_incomplete = [&](relation_id id) { return !affected[id.value] && !is_complete(id); };
  for (bool changed = true; changed;) {
    changed = false;
    const std::vector<bool> read = read_by(analysed(), affected);
    for (const sema::stratum& stratum : analysed().strata) {
      const bool is_read = std::any_of(stratum.relations.begin(), stratum.relations.end(),
                                       [&](relation_id member) { return read[member.value] && is_incomplete(member); });
      if (!is_read) continue;
      for (const relation_id member : stratum.relations) affected[member.value] = true;
      changed = true;
    }
  }
  return affected;
}

bool engine_state::is_complete(relation_id relation) const {
  if (stale[relation.value] || !homes[relation.value]) return false;
  const evaluation& home = *homes[relation.value];
  if (home.plan().relations[relation.value].is_asked) return false;
  // If every relation may be read, no relation is restricted, and inputs were complete.
  if (!tuned.planning.modes.is_always("unneeded-relations") || home.source->relations[relation.value].rules.empty())
    return true;
  return home.members[relation.value];
}

/// Continues or recomputes the strata that a change may reach; other strata keep their rows. Relations that no output
/// needs are postponed, with their facts, until an output needs them.
void engine_state::evaluate_again() {
  const changes now = find_changes();
  if (!is_any(now.affected)) return;
  forget_evaluation();
  staged_facts facts_of_others(staged.size());
  for (std::uint32_t number = 0; number < staged.size(); ++number) {
    if (!now.affected[number]) staged[number].swap(facts_of_others[number]);
  }
  evaluate_changes(now);
  for (std::uint32_t number = 0; number < staged.size(); ++number) {
    if (!now.affected[number]) staged[number].swap(facts_of_others[number]);
    stale[number] = now.left[number];
  }
}

void engine_state::evaluate_changes(const changes& now) {
  const std::vector<bool> growing = growing_now(now);
  const std::vector<bool> anew = without(now.affected, growing);
  if (is_any(growing)) go_on(growing);
  if (is_any(anew)) begin_anew(anew);
}

/// Recomputes relations, with the results of unaffected relations as inputs.
void engine_state::begin_anew(const std::vector<bool>& relations) {
  forget_stale(relations);
  const std::vector<bool> read = read_by(analysed(), relations);
  {
    const span_scope span(figures, zero, "take over");
    for (std::uint32_t number = 0; number < relations.size(); ++number) {
      if (relations[number]) {
        stage_facts_of(number);
      } else if (read[number]) {
        stage_results_of(number);
      }
    }
  }
  evaluate_staged(std::make_shared<const sema::program>(part_of(analysed(), relations)), relations);
  note_seconds_anew();
}

}  // namespace gpulog::detail
