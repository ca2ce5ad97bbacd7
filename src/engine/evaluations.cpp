#include "engine/evaluations.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "engine/again/affected.hpp"
#include "engine/figures/resource_timeline.hpp"
#include "gpulog/error.hpp"
#include "kernels/join/pipeline.hpp"
#include "sema/print.hpp"
#include "storage/relation/relation.hpp"

namespace gpulog::detail {
namespace {

/// Replaces names introduced by the planner in a message of the executor.
std::string with_names_of_program(const std::string& message) {
  const std::size_t place = std::min(message.find("\nin file "), message.size());
  return sema::without_made_names(std::string_view(message).substr(0, place)) + message.substr(place);
}

}  // namespace

void evaluations::require_changes(const std::string& subject) const {
  if (is_evaluating()) throw input_error(subject + " cannot be changed while the program is being evaluated");
  if (state_ == state::failed) throw input_error("an evaluation has failed: the engine has to be reset");
}

const std::vector<const word*>& evaluations::columns_of(std::uint32_t relation) const {
  return columns_of(*homes_[relation], relation);
}

const std::vector<const word*>& evaluations::columns_of(evaluation& home, std::uint32_t relation) const {
  try {
    return home.columns_of(relation);
  } catch (const exec::memory_fault& fault) {
    throw memory_limit_error(with_names_of_program(fault.what()));
  } catch (const backend::memory_exceeded& fault) {
    throw out_of_memory("reading relation " + run_.relation(relation).name, fault, run_.values.memory);
  }
}

std::uint64_t evaluations::rows(std::uint32_t relation) const {
  return has_results_of(relation) ? homes_[relation]->executor().rows(relation_id(relation)) : facts_.rows(relation);
}

word evaluations::at(std::uint32_t relation, std::uint64_t row, std::size_t column) const {
  if (!has_results_of(relation)) return facts_.at(relation, row, column);
  if (!run_.is_equivalence(relation)) return columns_of(relation)[column][row];
  word pair[2];
  word* const columns[] = {pair, pair + 1};
  homes_[relation]->executor().read_pairs(relation_id(relation), row, 1, columns);
  return pair[column];
}

bool evaluations::contains(std::uint32_t relation, std::span<const word> row) {
  if (row.empty()) return rows(relation) != 0;
  if (!has_results_of(relation)) return facts_.contains(relation, row);
  try {
    if (run_.is_equivalence(relation)) {
      const auto& classes = classes_.try_emplace(relation, homes_[relation]->executor(), relation_id(relation));
      return classes.first->second.are_equal(row[0], row[1]);
    }
    auto index = row_indexes_.find(relation);
    if (index == row_indexes_.end()) {
      column_index made(columns_of(relation), rows(relation), run_.values.memory);
      index = row_indexes_.emplace(relation, std::move(made)).first;
    }
    return index->second.contains(row);
  } catch (const backend::memory_exceeded& fault) {
    throw out_of_memory("looking for a row of relation " + run_.relation(relation).name, fault, run_.values.memory);
  }
}

void evaluations::forget_indexes(std::uint32_t relation) {
  row_indexes_.erase(relation);
  classes_.erase(relation);
}

void evaluations::forget_latest() {
  latest_.clear();
  run_.figures.backend = "cpu";
  run_.figures.fallback_reason.clear();
  run_.figures.dense_columns.clear();
  run_.figures.strata.clear();
  run_.figures.relations.clear();
}

void evaluations::reset() {
  row_indexes_.clear();
  classes_.clear();
  homes_.clear();
  current_.reset();
  continuing_.reset();
  latest_.clear();
  stale_.clear();
  waiting_.clear();
  seconds_anew_ = earlier_seconds_anew_ = seconds_taken_over_ = 0;
  has_erased_ = false;
  erasing_factor_ = 1;
  seconds_of_.clear();
  is_restored_ = false;
  before_.clear();
  state_ = state::none;
}

void evaluations::change(const std::function<void()>& work) {
  const state before = state_.exchange(state::failed);
  work();
  state_ = before;
}

void evaluations::move_home(const std::vector<bool>& relations) {
  for (std::uint32_t number = 0; number < relations.size(); ++number) {
    if (!relations[number]) continue;
    forget_indexes(number);
    homes_[number] = current_;
  }
}

void evaluations::evaluate_staged(std::shared_ptr<const sema::program> part, const std::vector<bool>& relations) {
  run_.monitor.begin_run();
  current_ = std::make_shared<evaluation>(run_, std::move(part));
  latest_.push_back(current_);
  move_home(relations);
  current_->evaluate(facts_, make_other_executor_);
}

/// Returns the program without erased facts of its text.
std::shared_ptr<const sema::program> evaluations::first_program() const {
  const auto is_erased = [this](const sema::fact& fact) {
    const std::uint32_t relation = fact.relation.value;
    return facts_.has_erased(relation) && facts_.is_erased(relation, run_.values.row_of(fact));
  };
  const auto& facts = analysed().facts;
  if (std::none_of(facts.begin(), facts.end(), is_erased)) return {run_.source, &analysed()};
  auto changed = std::make_shared<sema::program>(analysed());
  std::erase_if(changed->facts, is_erased);
  return changed;
}

/// Keeps copies of facts that cannot be distinguished from derived rows after the evaluation.
void evaluations::keep_facts(const sema::program& first) {
  for (std::uint32_t number = 0; number < facts_.size(); ++number) {
    if (!run_.needed[number]) continue;
    facts_.forget_erased(number);
    if (!is_plain_input(run_.relation(number))) facts_.keep_staged(number);
  }
  std::map<std::uint32_t, staged_rows> blocks;
  for (const sema::fact& fact : first.facts) {
    if (!run_.needed[fact.relation.value] || is_plain_input(analysed()[fact.relation])) continue;
    append_row(blocks[fact.relation.value], run_.values.row_of(fact), run_.values.memory);
  }
  for (auto& [number, block] : blocks) facts_.keep(number, std::move(block));
}

void evaluations::evaluate_first() {
  const auto first = first_program();
  keep_facts(*first);
  homes_.resize(facts_.size());
  stale_.resize(facts_.size());
  forget_latest();
  // Facts of relations that no output needs are set aside: a later program may need them.
  staged_facts others = facts_.take_others(run_.needed);
  evaluate_staged(first, run_.needed);
  facts_.restore(std::move(others));
  stage_other_facts(*first);
}

void evaluations::stage_other_facts(const sema::program& first) {
  for (const sema::fact& fact : first.facts) {
    if (!run_.needed[fact.relation.value]) facts_.stage_row(fact.relation.value, run_.values.row_of(fact));
  }
}

void evaluations::restore(std::shared_ptr<evaluation> stored, std::vector<double> seconds,
                          const deletion_regret& earlier) {
  seconds_of_ = std::move(seconds);
  erasing_factor_ = earlier.factor;
  earlier_seconds_anew_ = earlier.seconds_anew;
  is_restored_ = true;
  homes_.resize(facts_.size());
  stale_.resize(facts_.size());
  for (std::uint32_t number = 0; number < facts_.size(); ++number) {
    if (run_.needed[number]) homes_[number] = stored;
  }
  stage_other_facts(analysed());
  state_ = state::evaluated;
}

/// @param share of the time that the process had a processor: other processes must not make strata seem expensive
void evaluations::note_seconds(double share) {
  seconds_of_.resize(facts_.size());
  for (const std::shared_ptr<evaluation>& one : latest_) {
    const auto& strata = one->executor().figures().strata;
    for (std::size_t number = 0; number < strata.size() && number < one->plan().strata.size(); ++number) {
      if (strata[number].continued) continue;
      const std::vector<relation_id>& members = one->plan().strata[number].relations;
      const auto is_of_program = [this](relation_id member) { return member.value < seconds_of_.size(); };
      const auto members_of_program = static_cast<double>(std::count_if(members.begin(), members.end(), is_of_program));
      for (const relation_id member : members) {
        if (is_of_program(member)) seconds_of_[member.value] = share * strata[number].seconds / members_of_program;
      }
    }
  }
}

/// Translates the errors of an evaluation.
void evaluations::attempt(bool keeps_changes) {
  try {
    if (keeps_changes) note_rows_before();
    has_begun() ? evaluate_again() : evaluate_first();
  } catch (const exec::evaluation_fault& fault) {
    throw evaluation_error(with_names_of_program(fault.what()));
  } catch (const exec::memory_fault& fault) {
    throw memory_limit_error(with_names_of_program(fault.what()));
  } catch (const backend::memory_exceeded& fault) {
    throw out_of_memory("evaluating", fault, run_.values.memory);
  } catch (const std::length_error& fault) {
    throw memory_limit_error(fault.what());  // a table is full: its numbers are words
  } catch (const kernels::interrupted&) {
    throw cancelled_error("The run was cancelled");
  }
}

void evaluations::evaluate(bool keeps_changes) {
  const timed_scope timer(run_.figures.evaluate_seconds, run_.figures.total_seconds);
  state_ = state::evaluating;
  const struct failed_unless_done {
    std::atomic<state>& now;
    ~failed_unless_done() {
      if (now == state::evaluating) now = state::failed;
    }
  } watched{state_};
  const double used = processor_seconds();
  const double begin = storage::seconds_now();
  attempt(keeps_changes);
  constexpr double least_seconds = 1e-9;
  const double passed = std::max(storage::seconds_now() - begin, least_seconds);
  note_seconds(run_.device ? 1 : std::min((processor_seconds() - used) / passed, 1.0));
  state_ = state::evaluated;
}

}  // namespace gpulog::detail
