#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/again/affected.hpp"
#include "engine/evaluations.hpp"

/// Reevaluates the relations that depend on facts changed after an evaluation.
namespace gpulog::detail {

namespace {

/// Number of pairs of an equivalence relation that are read per block.
constexpr std::uint64_t pairs_staged = std::uint64_t{1} << 20;

}  // namespace

evaluations::changes evaluations::find_changes() const {
  changes result{std::vector<bool>(facts_.size()), std::vector<bool>(facts_.size()), {}, {}};
  for (std::uint32_t number = 0; number < facts_.size(); ++number) {
    const bool has_erased = facts_.has_erased(number);
    result.erased[number] = has_erased || !is_complete(relation_id(number));
    result.changed[number] = has_erased || stale_[number] || !homes_[number] || facts_.rows(number) != 0;
  }
  const std::vector<bool> reached = affected_by(analysed(), result.changed);
  result.affected = reached;
  for (std::size_t number = 0; number < reached.size(); ++number)
    result.affected[number] = reached[number] && run_.needed[number];
  result.affected = with_incomplete(std::move(result.affected));
  result.left = without(reached, result.affected);
  return result;
}

/// Stages the earlier facts before the inserted facts, and removes the erased facts from both.
void evaluations::stage_facts_of(std::uint32_t relation) {
  const bool is_plain = is_plain_input(run_.relation(relation));
  facts_.stage_before(relation, is_plain ? results_of(relation) : facts_.take_kept(relation));
  if (!is_plain) facts_.keep_staged(relation);
}

/// Stages the results of the relation's last evaluation, as input of an evaluation that reads the relation.
void evaluations::stage_results_of(std::uint32_t relation) {
  for (staged_rows& block : results_of(relation)) facts_.stage(relation, std::move(block));
}

/// Returns the rows of an evaluation with lasting rows, without a copy.
staged_rows evaluations::shown_rows_of(std::uint32_t relation) const {
  staged_rows block;
  block.rows = homes_[relation]->executor().rows(relation_id(relation));
  if (run_.relation(relation).attributes.empty()) return block;
  for (const word* const column : columns_of(*homes_[relation], relation))
    block.columns.emplace_back(run_.values.memory).show(column, block.rows);
  return block;
}

std::vector<staged_rows> evaluations::results_of(std::uint32_t relation) const {
  return homes_[relation] ? rows_of(*homes_[relation], relation) : std::vector<staged_rows>();
}

std::vector<staged_rows> evaluations::rows_of(evaluation& from, std::uint32_t relation) const {
  std::vector<staged_rows> blocks;
  const exec::executor& home = from.executor();
  const relation_id id(relation);
  const std::size_t arity = run_.relation(relation).attributes.size();
  const std::uint64_t most = run_.is_equivalence(relation) ? pairs_staged : home.rows(id);
  for (std::uint64_t first = 0; first < home.rows(id); first += most) {
    staged_rows& block = blocks.emplace_back();
    block.rows = std::min(most, home.rows(id) - first);
    std::vector<word*> columns;
    for (std::size_t c = 0; c < arity; ++c)
      columns.push_back(block.columns.emplace_back(run_.values.memory, block.rows).data());
    if (run_.is_equivalence(relation)) {
      home.read_pairs(id, first, block.rows, columns.data());
    } else {
      for (std::size_t c = 0; c < arity; ++c) std::copy_n(columns_of(from, relation)[c], block.rows, columns[c]);
    }
  }
  return blocks;
}

/// Adds the relations read by affected relations whose last evaluation contains only queried tuples.
std::vector<bool> evaluations::with_incomplete(std::vector<bool> affected) const {
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

bool evaluations::is_complete(relation_id relation) const {
  const auto& home = homes_[relation.value];
  return !stale_[relation.value] && home && home->has_all_rows(relation);
}

/// Continues or recomputes the strata that a change may reach; other strata keep their rows. Relations that no output
/// needs are postponed, with their facts, until an output needs them.
void evaluations::evaluate_again() {
  const changes now = find_changes();
  if (!is_any(now.affected)) return;
  forget_latest();
  staged_facts others = facts_.take_others(now.affected);
  std::vector<bool> growing = growing_now(now);
  if (is_any(growing) && !go_on(growing)) {
    forget_latest();
    continuing_.reset();
    waiting_ = std::exchange(growing, std::vector<bool>(growing.size()));
  }
  const std::vector<bool> anew = without(now.affected, growing);
  if (is_any(anew)) begin_anew(anew);
  facts_.restore(std::move(others));
  stale_ = now.left;
}

/// Recomputes relations, with the results of unaffected relations as inputs.
void evaluations::begin_anew(const std::vector<bool>& relations) {
  forget_stale(relations);
  const std::vector<bool> read = read_by(analysed(), relations);
  {
    const span_scope span = run_.span("take over");
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
