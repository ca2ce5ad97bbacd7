#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "engine/again/affected.hpp"
#include "engine/again/continuation.hpp"
#include "engine/evaluations.hpp"
#include "exec/calibration.hpp"

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

relation_id first_of(const std::vector<bool>& relations) {
  return relation_id(
      static_cast<std::uint32_t>(std::find(relations.begin(), relations.end(), true) - relations.begin()));
}

bool includes(const std::vector<bool>& all, const std::vector<bool>& some) { return !is_any(without(some, all)); }

/// Returns options for plans and sets in which any relation may gain any tuple later: no auxiliary relations, no
/// restrictions, and no assumptions about values.
plan::options planning_to_continue(plan::options chosen) {
  chosen.makes_relations = false;
  chosen.rows = row_mode::off;
  for (const char* const pass :
       {"dense-domains", "needless-sets", "unneeded-relations", "magic-sets", "magic-transform"})
    chosen.modes.set(pass, tuning_mode::off);
  return chosen;
}

}  // namespace

continued_evaluation::continued_evaluation(run_context& run, std::vector<bool> changed, std::vector<bool> growing,
                                           bool loses)
    : continued_evaluation(run, program_for(run, growing, loses), std::move(changed), growing, loses) {}

continued_evaluation::continued_evaluation(run_context& run, std::pair<program_pointer, erasing_relations> parts,
                                           std::vector<bool> changed, std::vector<bool> growing, bool loses)
    : evaluation(run, parts.first),
      source_relations_(parts.first->relations.size()),
      erasing_(std::move(parts.second)),
      changed_(std::move(changed)),
      growing_(std::move(growing)),
      held_(united(read_by(run.analysed(), growing_), growing_)),
      has_lost_(growing_.size()),
      loses_(loses) {}

std::pair<continued_evaluation::program_pointer, erasing_relations> continued_evaluation::program_for(
    const run_context& run, const std::vector<bool>& growing, bool loses) {
  auto program = std::make_shared<sema::program>(recursion_of(run.analysed(), growing));
  erasing_relations erasing;
  if (loses) erasing = add_erasing_strata(run.analysed(), growing, *program);
  return {std::move(program), std::move(erasing)};
}

void continued_evaluation::resize(std::size_t relations) {
  for (auto* const chosen : {&changed_, &growing_, &held_, &has_lost_}) chosen->resize(relations);
  sources_.resize(relations);
}

void continued_evaluation::take_over(fact_store& results, std::vector<std::shared_ptr<const evaluation>> sources) {
  sources_ = std::move(sources);
  plan::options planning = planning_to_continue(run().tuned.planning);
  if (loses_) planning.losing = growing_;
  static_cast<void>(make_plan(results, planning, true));
  exec::options chosen = execution_options();
  chosen.continues = true;
  if (loses_) {
    chosen.on_progress = [this, others = chosen.on_progress](const exec::progress& now) {
      if (others) others(now);
      tell(now);
    };
  }
  auto made = exec::make_cpu_executor(plan(), run().values.symbols, run().values.memory, chosen);
  executor_ = made.get();
  set_executor(std::move(made));
  const span_scope span = run().span("take over");
  for (std::uint32_t number = 0; number < results.size(); ++number) {
    if (!adopts(number)) continue;  // hand_over() adds tuple sets
    for (const staged_rows& block : results.take(number))
      executor_->adopt(relation_id(number), block.pointers(), block.rows, sources_[number] != nullptr);
  }
  hand_over(results);
  recursion_ = stratum_of(first_of(growing_));
  for (std::size_t number = 0; number < plan().strata.size(); ++number) {
    const relation_id member = plan().strata[number].relations.front();
    const bool is_made_by_planner = member.value >= source_relations_;
    const bool is_input = is_made_by_planner || (member.value < growing_.size() && !growing_[member.value]);
    if (number != recursion_ && is_input) executor_->run_stratum(number);
  }
}

void continued_evaluation::go_on(fact_store& facts) {
  forget_columns();
  for (std::uint32_t number = 0; number < growing_.size(); ++number) {
    if (!growing_[number]) continue;
    executor_->forget_columns(relation_id(number));
    for (staged_rows& block : facts.take(number)) {
      executor_->append(relation_id(number), block.pointers(), block.rows);
      if (!is_plain_input(run().relation(number))) facts.keep(number, std::move(block));
    }
  }
  executor_->continue_stratum(recursion_);
}

/// Returns, by relation, the relations to continue: few tuples were inserted, and a separate executor pays. Creates
/// that executor if necessary.
std::vector<bool> evaluations::growing_now(const changes& now) {
  seconds_taken_over_ = 0;
  const std::vector<bool> none(now.affected.size());
  if (run_.tuned.run.is_off("continuation") || make_other_executor_ || run_.device) return none;
  const std::vector<bool> plain = growing_with(now, now.affected, true);
  const bool loses = can_erase(plain);
  std::vector<bool> growing = loses ? plain : growing_with(now, now.affected, false);
  if (!is_any(growing)) return none;
  forget_stale(without(now.affected, growing));
  const bool is_always = run_.tuned.run.is_always("continuation");
  if (!is_always && !inserts_little(growing)) return none;
  const bool can_continue = continuing_ && !continuing_->is_shown() && (continuing_->loses() || !loses);
  if (can_continue && includes(continuing_->growing(), growing)) return growing;
  if (!is_always && !pays_to_take_over(growing, loses)) {
    waiting_ = std::move(growing);
    return none;
  }
  has_erased_ = has_erased_ || loses;
  seconds_taken_over_ = seconds_to_take_over(growing, loses);
  // Sets of relations that lose tuples are built when they are needed, and a restored engine may need few.
  const bool may_lose = is_restored_ || (has_erased_ && erasing_factor_ == 1);
  take_over(now, growing, loses || (may_lose && growing == plain));
  waiting_.clear();
  seconds_anew_ = 0;
  if (loses) earlier_seconds_anew_ = 0;
  return growing;
}

/// Returns the affected relations that a continuation updates.
/// @param loses whether the continuation also erases tuples
std::vector<bool> evaluations::growing_with(const changes& now, const std::vector<bool>& affected, bool loses) const {
  if (!loses) return growing_from(analysed(), affected, now.erased);
  std::vector<bool> incomplete(affected.size());
  for (std::uint32_t number = 0; number < affected.size(); ++number)
    incomplete[number] = !is_complete(relation_id(number));
  return growing_from(analysed(), affected, incomplete, true);
}

/// Drops the continuing evaluation if it contains a relation that is recomputed.
void evaluations::forget_stale(const std::vector<bool>& anew) {
  if (continuing_ && have_common(anew, continuing_->held())) continuing_.reset();
}

/// Returns whether the inserted rows are few relative to the existing rows. After many insertions, most tuples are
/// derived again anyway.
bool evaluations::inserts_little(const std::vector<bool>& growing) const {
  std::uint64_t inserted = 0;
  std::uint64_t before = 0;
  for (std::uint32_t number = 0; number < growing.size(); ++number) {
    if (!growing[number] || (facts_.staged(number).empty() && !facts_.has_erased(number))) continue;
    inserted += facts_.rows(number) + facts_.erased_count(number);
    before += homes_[number]->executor().rows(relation_id(number));
  }
  return static_cast<double>(inserted) <= exec::calibration::most_continued_share * static_cast<double>(before);
}

/// Returns the time from scratch of the strata of growing relations.
double evaluations::seconds_from_scratch(const std::vector<bool>& growing) const {
  double seconds = 0;
  for (std::uint32_t number = 0; number < growing.size(); ++number) {
    if (growing[number]) seconds += seconds_of(number);
  }
  return seconds;
}

/// Returns the expected time to take over results with sets and indexes; infinity if the memory does not suffice.
double evaluations::seconds_to_take_over(const std::vector<bool>& growing, bool loses) const {
  const std::vector<bool> held = united(read_by(analysed(), growing), growing);
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;
  for (std::uint32_t number = 0; number < held.size(); ++number) {
    if (!held[number]) continue;
    // columns, a tuple set of the same size, and an index
    constexpr std::uint64_t copies = 3;
    const std::uint64_t here = homes_[number]->executor().rows(relation_id(number));
    rows += here;
    bytes += here * run_.relation(number).attributes.size() * sizeof(word) * copies;
  }
  const backend::memory_resource& memory = run_.values.memory;
  const std::uint64_t limit = memory.limit() != 0 ? memory.limit() : backend::machine_bytes() / 2;
  if (memory.used() + bytes > limit) return std::numeric_limits<double>::infinity();
  using namespace exec::calibration;
  // Inserted rows are compared with each other; row sets for deletions are built without a comparison.
  return static_cast<double>(rows) / (loses ? host_taken_over_rows_per_second : host_candidates_per_second);
}

/// Decides between recomputing and keeping sets and indexes, as in ski rental (Karlin and others 1988): strata are
/// recomputed until this has taken as long as building permanent sets and indexes. The total cost is at most twice the
/// optimum.
/// @param loses whether facts were erased: the time doubles with each deletion that was abandoned, in this process or
///   before
bool evaluations::pays_to_take_over(const std::vector<bool>& growing, bool loses) const {
  const double taking_over = seconds_to_take_over(growing, loses);
  double seconds = seconds_anew_;
  // A restored engine may be evaluated only once.
  if (is_restored_)
    seconds += seconds_from_scratch(growing) * (loses ? exec::calibration::restored_share_for_deletions : 1);
  if (seconds < taking_over) return false;
  return !loses || seconds + earlier_seconds_anew_ >= erasing_factor_ * taking_over;
}

/// Adds the time of recomputing the waiting relations. Call after their evaluation.
void evaluations::note_seconds_anew() {
  if (waiting_.empty()) return;
  const auto& strata = current_->executor().figures().strata;
  for (std::size_t number = 0; number < strata.size(); ++number) {
    const auto& members = current_->plan().strata[number].relations;
    const bool is_waiting = std::any_of(members.begin(), members.end(), [this](relation_id member) {
      return member.value < waiting_.size() && waiting_[member.value];
    });
    if (is_waiting) seconds_anew_ += strata[number].seconds;
  }
  waiting_.clear();
}

/// Creates a continuing evaluation with the results of the growing relations and of the relations that their rules
/// read. Relations of the previous continuing evaluation are included, unless one of the relations could then not grow.
void evaluations::take_over(const changes& now, const std::vector<bool>& growing, bool loses) {
  std::vector<bool> changed = now.changed;
  std::vector<bool> all = growing;
  if (continuing_) {
    std::vector<bool> both = united(now.changed, continuing_->changed());
    const bool all_lose = loses || continuing_->loses();
    std::vector<bool> joint = growing_with(now, affected_by(analysed(), both), all_lose);
    // The continuation would take the inserted facts of relations that are evaluated from their start.
    const bool is_disjoint = !have_common(joint, without(now.affected, growing));
    if (is_disjoint && includes(joint, united(growing, continuing_->growing()))) {
      loses = all_lose;
      changed = std::move(both);
      all = std::move(joint);
    }
  }
  continuing_ = std::make_shared<continued_evaluation>(run_, std::move(changed), std::move(all), loses);
  staged_facts inserted = facts_.take_others(std::vector<bool>(facts_.size()));
  std::vector<std::shared_ptr<const evaluation>> sources(facts_.size());
  {
    const span_scope span = run_.span("take over");
    for (std::uint32_t number = 0; number < facts_.size(); ++number) {
      if (!continuing_->held()[number] || homes_[number]->executor().rows(relation_id(number)) == 0) continue;
      if (homes_[number]->has_lasting_rows() && continuing_->adopts(number) && !run_.is_equivalence(number)) {
        facts_.stage(number, shown_rows_of(number));
        sources[number] = homes_[number];
      } else {
        stage_results_of(number);
      }
    }
  }
  current_ = continuing_;
  continuing_->take_over(facts_, std::move(sources));
  move_home(continuing_->held());
  facts_.restore(std::move(inserted));
}

/// Continues the evaluation from the facts inserted into growing relations.
bool evaluations::go_on(const std::vector<bool>& growing) {
  run_.monitor.begin_run();
  current_ = continuing_;
  latest_.push_back(current_);
  for (std::uint32_t number = 0; number < growing.size(); ++number) {
    if (continuing_->growing()[number]) forget_indexes(number);
  }
  const span_scope span = run_.span("evaluate");
  continuing_->note_rows();
  if (!erase_facts(growing)) return false;
  continuing_->go_on(facts_);
  for (std::uint32_t number = 0; number < before_.size(); ++number) {
    if (before_[number] && growing[number] && !moves_rows(number)) before_[number]->continued = continuing_;
  }
  return true;
}

}  // namespace gpulog::detail
