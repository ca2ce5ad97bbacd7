#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/again/affected.hpp"
#include "engine/again/continuation.hpp"
#include "engine/engine_state.hpp"
#include "engine/figures/run_figures.hpp"
#include "engine/proofs/proof_search.hpp"
#include "exec/calibration.hpp"
#include "gpulog/error.hpp"

/// Inserted facts become a delta of the existing results: relations that only grow are continued semi-naively, in an
/// executor that is kept for later facts (docs/adr/0037-continuation.md).
namespace gpulog::detail {

namespace {

bool have_common(const std::vector<bool>& some, const std::vector<bool>& others) {
  for (std::size_t number = 0; number < some.size(); ++number) {
    if (some[number] && others[number]) return true;
  }
  return false;
}

bool includes(const std::vector<bool>& all, const std::vector<bool>& some) {
  for (std::size_t number = 0; number < some.size(); ++number) {
    if (some[number] && !all[number]) return false;
  }
  return true;
}

std::vector<bool> united(std::vector<bool> all, const std::vector<bool>& others) {
  for (std::size_t number = 0; number < all.size(); ++number) all[number] = all[number] || others[number];
  return all;
}

/// Returns options for plans and sets in which any relation may gain any tuple later: no auxiliary relations, no
/// restrictions, and no assumptions about values.
plan::options planning_to_continue(plan::options chosen) {
  chosen.makes_relations = false;
  for (const char* const pass : {"decomposition", "row-wise-evaluation", "row-products", "dense-domains",
                                 "needless-sets", "unneeded-relations", "magic-sets", "magic-transform"})
    chosen.modes.set(pass, tuning_mode::off);
  return chosen;
}

}  // namespace

/// Returns, by relation, the relations to continue: few tuples were inserted, and a separate executor pays. Creates
/// that executor if necessary.
std::vector<bool> engine_state::growing_now(const changes& now) {
  const std::vector<bool> none(now.affected.size());
  const bool is_possible = !tuned.run.is_off("continuation") && !make_other_executor && !device;
  if (!is_possible) return none;
  std::vector<bool> growing = growing_from(analysed(), now.affected, now.erased);
  if (!is_any(growing)) return none;
  forget_stale(without(now.affected, growing));
  const bool is_always = tuned.run.is_always("continuation");
  if (!is_always && !inserts_little(growing)) return none;
  if (continuing && !continuing->is_shown() && includes(continuing->continued->growing, growing)) return growing;
  if (!is_always && !pays_to_take_over(growing)) {
    waiting = std::move(growing);
    return none;
  }
  take_over(now, growing);
  waiting.clear();
  seconds_anew = 0;
  return growing;
}

/// Drops the continuing evaluation if it contains a relation that is recomputed.
void engine_state::forget_stale(const std::vector<bool>& anew) {
  if (continuing && have_common(anew, continuing->continued->held)) continuing.reset();
}

/// Returns whether the inserted rows are few relative to the existing rows. After many insertions, most tuples are
/// derived again anyway.
bool engine_state::inserts_little(const std::vector<bool>& growing) const {
  std::uint64_t inserted = 0;
  std::uint64_t before = 0;
  for (std::uint32_t number = 0; number < growing.size(); ++number) {
    if (!growing[number] || staged[number].empty()) continue;
    for (const staged_rows& block : staged[number]) inserted += block.rows;
    before += homes[number]->executor->rows(relation_id(number));
  }
  return static_cast<double>(inserted) <= exec::calibration::most_continued_share * static_cast<double>(before);
}

/// Decides between recomputing and keeping sets and indexes, as in ski rental (Karlin and others 1988): strata are
/// recomputed until this has taken as long as building permanent sets and indexes. The total cost is at most twice the
/// optimum.
bool engine_state::pays_to_take_over(const std::vector<bool>& growing) const {
  const std::vector<bool> held = united(read_by(analysed(), growing), growing);
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;
  for (std::uint32_t number = 0; number < held.size(); ++number) {
    if (!held[number]) continue;
    // columns, a tuple set of the same size, and an index
    constexpr std::uint64_t copies = 3;
    const std::uint64_t here = homes[number]->executor->rows(relation_id(number));
    rows += here;
    bytes += here * analysed().relations[number].attributes.size() * sizeof(word) * copies;
  }
  const std::uint64_t limit = memory.limit() != 0 ? memory.limit() : machine_bytes() / 2;
  if (memory.used() + bytes > limit) return false;
  return seconds_anew >= static_cast<double>(rows) / exec::calibration::host_candidates_per_second;
}

/// Adds the time of recomputing the waiting relations. Call after their evaluation.
void engine_state::note_seconds_anew() {
  if (waiting.empty()) return;
  const auto& strata = current->executor->figures().strata;
  for (std::size_t number = 0; number < strata.size(); ++number) {
    const auto& members = planned().strata[number].relations;
    const bool is_waiting = std::any_of(members.begin(), members.end(), [this](relation_id member) {
      return member.value < waiting.size() && waiting[member.value];
    });
    if (is_waiting) seconds_anew += strata[number].seconds;
  }
  waiting.clear();
}

/// Creates a continuing evaluation with the results of the growing relations and of the relations that their rules
/// read. Relations of the previous continuing evaluation are included, unless one of the relations could then not grow.
void engine_state::take_over(const changes& now, const std::vector<bool>& growing) {
  evaluation::recursion recursion{now.changed, growing, {}, nullptr};
  if (continuing) {
    const evaluation::recursion& before = *continuing->continued;
    const std::vector<bool> both = united(now.changed, before.changed);
    std::vector<bool> all = growing_from(analysed(), affected_by(analysed(), both), now.erased);
    if (includes(all, united(growing, before.growing))) recursion = {both, std::move(all), {}, nullptr};
  }
  recursion.held = united(read_by(analysed(), recursion.growing), recursion.growing);
  staged_facts inserted = std::exchange(staged, staged_facts(staged.size()));
  {
    const span_scope span(figures, zero, "take over");
    for (std::uint32_t number = 0; number < recursion.held.size(); ++number) {
      if (recursion.held[number]) stage_results_of(number);
    }
  }
  continuing = current = std::make_shared<evaluation>();
  current->text = source;
  current->source = std::make_shared<const sema::program>(recursion_of(analysed(), recursion.growing));
  current->continued = std::move(recursion);
  static_cast<void>(plan_current(planning_to_continue(tuned.planning)));
  exec::options chosen = execution_options();
  chosen.continues = true;
  auto executor = exec::make_cpu_executor(planned(), symbols, memory, chosen);
  current->continued->executor = executor.get();
  current->executor = std::move(executor);
  current->measures.emplace(*current->executor);
  const span_scope span(figures, zero, "take over");
  hand_over_results();
  move_home(current->continued->held);
  staged = std::move(inserted);
}

/// Moves the staged rows into the continuing executor, then evaluates the auxiliary relations once.
void engine_state::hand_over_results() {
  evaluation::recursion& made = *current->continued;
  for (std::uint32_t number = 0; number < staged.size(); ++number) {
    if (made.growing[number]) continue;  // growing relations need tuple sets
    for (const staged_rows& block : std::exchange(staged[number], {})) {
      std::vector<const word*> columns;
      for (const auto& column : block.columns) columns.push_back(column.data());
      made.executor->adopt(relation_id(number), columns, block.rows);
    }
  }
  hand_over_staged_rows();
  for (std::size_t number = 0; number + 1 < planned().strata.size(); ++number) made.executor->run_stratum(number);
}

/// Continues the evaluation from the facts inserted into growing relations.
void engine_state::go_on(const std::vector<bool>& growing) {
  monitor.begin_run();
  current = continuing;
  latest.push_back(current);
  current->forget_columns();
  proofs.reset();
  const evaluation::recursion& recursion = *current->continued;
  const span_scope span(figures, zero, "evaluate");
  for (std::uint32_t number = 0; number < growing.size(); ++number) {
    if (!recursion.growing[number]) continue;
    row_indexes.erase(number);
    classes.erase(number);
    recursion.executor->forget_columns(relation_id(number));
    for (staged_rows& block : std::exchange(staged[number], {})) {
      std::vector<const word*> columns;
      for (const auto& column : block.columns) columns.push_back(column.data());
      recursion.executor->append(relation_id(number), columns, block.rows);
      if (!is_plain_input(analysed().relations[number])) kept[number].push_back(std::move(block));
    }
  }
  recursion.executor->continue_stratum(planned().strata.size() - 1);
}

}  // namespace gpulog::detail
