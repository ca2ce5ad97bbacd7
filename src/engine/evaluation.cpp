#include "engine/evaluation.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "engine/rows/column_statistics.hpp"
#include "exec/calibration.hpp"
#include "plan/planner.hpp"

namespace gpulog::detail {
namespace {

/// Number of rows loaded into an executor at a time, if it accepts pieces.
constexpr std::uint64_t rows_per_piece = 1u << 21;

storage::set_choice sets_of(storage_kind kind) {
  if (kind == storage_kind::hash) return storage::set_choice::hash;
  if (kind == storage_kind::words) return storage::set_choice::words;
  return kind == storage_kind::bits ? storage::set_choice::bits : storage::set_choice::automatic;
}

}  // namespace

void evaluation::evaluate(fact_store& facts, const executor_maker& make_other) {
  plan::options planning = run_.tuned.planning;
  planning.has_device = run_.device != nullptr;
  const plan::statistics known = make_plan(facts, planning, false);
  exec::options chosen = execution_options();
  {
    const span_scope span = run_.span("encode");
    encode_values(known, facts);
  }
  const tuning_modes& modes = run_.tuned.run;
  const bool reoptimizes = !modes.is_off("reoptimization");
  chosen.reoptimize = [this, reoptimizes](std::size_t next) {
    return reoptimizes ? reoptimize(next, false) : follow_abandoned_steps(next);
  };
  if (reoptimizes) {
    chosen.reoptimize_loop = [this](std::size_t running) { return reoptimize(running, true); };
    chosen.put_back = [this](std::size_t running, std::size_t version) { return put_back(running, version); };
  }
  if (!planning.modes.is_always(plan::supplementary_pass)) {
    chosen.supplementary.work_without = [this](std::size_t running, relation_id one) {
      return planner_->work_without(running, one, *measures_);
    };
    chosen.supplementary.abandon = [this](std::size_t running, relation_id one) { return abandon(running, one); };
  }
  if (modes.is_always("reoptimization")) chosen.cut.reoptimized_bindings = 0;
  run_.wait_for_device();
  set_executor(make_other ? make_other(chosen) : make_executor(chosen));
  {
    const span_scope span = run_.span("take over");
    hand_over(facts);
  }
  const span_scope span = run_.span("evaluate");
  executor_->evaluate();
}

plan::statistics evaluation::make_plan(const fact_store& facts, const plan::options& chosen, bool has_results) {
  plan::statistics known;
  {
    const span_scope span = run_.span("measure");
    const exec::run_monitor::long_step here(&run_.monitor, "", relation_id(), nullptr);
    known = measure(facts, has_results);
  }
  const span_scope span = run_.span("plan");
  const exec::run_monitor::long_step here(&run_.monitor, "", relation_id(), nullptr);
  using columns = std::vector<plan::column_place>;
  const auto samples = std::make_shared<std::map<columns, sampled_values>>();
  known.compare_values = [&facts, samples](const columns& some, const columns& others) {
    const auto values_in = [&](const columns& wanted) -> const sampled_values& {
      const auto found = samples->find(wanted);
      return found != samples->end() ? found->second
                                     : samples->try_emplace(wanted, facts.values_in(wanted)).first->second;
    };
    return shared_between(values_in(some), values_in(others));
  };
  planner_.emplace(*source_, known, chosen,
                   run_.tuned.run.is_always("reoptimization") ? 0 : plan::calibration::least_reordered_rows);
  samples->clear();
  record_.note_planned(*planner_);
  members_.assign(plan().relations.size(), false);
  for (const plan::stratum& stratum : plan().strata) {
    for (const relation_id member : stratum.relations) members_[member.value] = true;
  }
  return known;
}

plan::statistics evaluation::measure(const fact_store& facts, bool has_results) const {
  plan::statistics known;
  io::task_runner tasks(run_.options.jobs);
  for (std::uint32_t number = 0; number < source_->relations.size(); ++number) {
    plan::relation_statistics& relation = known.relations.emplace_back();
    const std::uint64_t rows = number < facts.size() ? facts.rows(number) : 0;
    if (source_->relations[number].rules.empty() || has_results) relation.rows = rows;
    relation.is_loaded = rows != 0;
    if (rows == 0) continue;
    std::vector<std::vector<value_range>> columns;
    for (std::uint32_t c = 0; c < source_->relations[number].attributes.size(); ++c)
      columns.push_back(facts.values_in({{relation_id(number), c}}));
    relation.distinct_values = count_distinct(columns, rows, tasks);
  }
  for (const sema::fact& fact : source_->facts) {
    if (auto& count = known.relations[fact.relation.value].rows) ++*count;
  }
  return known;
}

void evaluation::encode_values(const plan::statistics& known, fact_store& facts) {
  const run_options& options = run_.options;
  const bool has_matrices = options.storage == storage_kind::automatic || options.storage == storage_kind::bits;
  encoding_choice chosen;
  chosen.everywhere = run_.tuned.run.is_always("dense-domain-encoding");
  if (run_.tuned.run.is_off("dense-domain-encoding") || !(chosen.everywhere || has_matrices)) return;
  if (!chosen.everywhere && facts.rows() < exec::calibration::least_encoded_rows) return;
  dense_domain_encoding encoding(plan(), run_.values.memory, run_.values.wide_or_none());
  if (options.memory_limit != 0) chosen.largest_matrix = std::min(chosen.largest_matrix, options.memory_limit / 4);
  if (!encoding.apply(chosen, known, facts.all_staged())) return;
  run_.figures.dense_columns = encoding.columns();
  numbers_.emplace(std::move(encoding));
}

exec::options evaluation::execution_options() {
  const run_options& options = run_.options;
  const tuning& tuned = run_.tuned;
  exec::options chosen;
  chosen.threads = options.jobs;
  chosen.storage = options.storage == storage_kind::hisa ? storage::storage_mode::hisa : storage::storage_mode::hash;
  chosen.sets = sets_of(options.storage);
  chosen.buffers.eager = tuned.buffer_factor > 0;
  chosen.buffers.factor = tuned.buffer_factor;
  chosen.records = &run_.values.records;
  chosen.wide = run_.values.wide_or_none();
  chosen.strip_counters = run_.strip_counters.get();
  chosen.divider = run_.divider.get();
  chosen.counter = &run_.values.counter;
  chosen.functors = run_.functors.table();
  chosen.stop = options.cancelled;
  chosen.rows = tuned.planning.rows;
  chosen.priority_delta = !tuned.run.is_off("priority-delta");
  if (options.on_progress) {
    chosen.on_progress = [this](const exec::progress& now) {
      run_.options.on_progress(
          {now.stratum, plan().strata.size(), now.iteration, now.tuples, now.seconds, now.backend});
    };
  }
  chosen.joins = tuned.joins;
  chosen.monitor = &run_.monitor;
  chosen.results = run_.results;
  chosen.is_watched = run_.is_watched();
  chosen.records_iterations = !options.report_files.empty();
  chosen.counts_steps = options.count_rows || !options.report_files.empty();
  return chosen;
}

void evaluation::set_executor(std::unique_ptr<exec::executor> executor) {
  executor_ = std::move(executor);
  if (run_.divider) run_.divider->begin_program();
  measures_.emplace(*executor_);
}

void evaluation::hand_over(fact_store& facts) {
  for (std::uint32_t number = 0; number < facts.size(); ++number) {
    for (staged_rows& block : facts.take(number)) {
      const std::uint64_t piece = may_load_pieces(number) ? rows_per_piece : block.rows;
      for (std::uint64_t begin = 0; begin < block.rows; begin += piece) {
        const std::uint64_t rows = std::min(piece, block.rows - begin);
        executor_->load(relation_id(number), block.pointers(begin), rows);
        // At most one piece of the rows is in memory twice.
        for (auto& column : block.columns) run_.values.memory.discard(column.data() + begin, rows * sizeof(word));
      }
    }
  }
}

/// Returns whether loading the rows in pieces affects neither the result nor the time.
bool evaluation::may_load_pieces(std::uint32_t relation) const {
  const plan::relation& wanted = plan().relations[relation];
  const bool keeps_all = wanted.choice_domains.empty() && !wanted.is_equivalence && !wanted.best;
  return keeps_all && !run_.device && run_.options.storage != storage_kind::hisa &&
         !source_->relations[relation].attributes.empty();
}

bool evaluation::reoptimize(std::size_t stratum, bool is_running) {
  const auto suits = [&] { return !suits_device_ || suits_device_(stratum); };
  const bool is_planned = is_running ? planner_->reoptimize_loop(stratum, *measures_, suits)
                                     : planner_->reoptimize(stratum, *measures_, suits);
  if (is_planned) take_over_plan(stratum);
  return is_planned;
}

bool evaluation::follow_abandoned_steps(std::size_t stratum) {
  const bool is_changed = planner_->follow_abandoned_steps(stratum, *measures_);
  if (is_changed) take_over_plan(stratum);
  return is_changed;
}

bool evaluation::put_back(std::size_t stratum, std::size_t version) {
  const auto suits = [&] { return !suits_device_ || suits_device_(stratum); };
  const bool is_changed = planner_->put_back(stratum, version, suits);
  if (is_changed) take_over_plan(stratum);
  return is_changed;
}

std::vector<relation_id> evaluation::abandon(std::size_t stratum, relation_id supplementary) {
  const auto suits = [&] { return !suits_device_ || suits_device_(stratum); };
  std::vector<relation_id> abandoned = planner_->abandon(stratum, supplementary, *measures_, suits);
  if (!abandoned.empty()) take_over_plan(stratum);
  return abandoned;
}

/// The planner has planned versions of a stratum again.
void evaluation::take_over_plan(std::size_t stratum) {
  record_.note_reordered(*planner_, stratum);
  if (numbers_) numbers_->take_over(plan(), stratum);
}

bool evaluation::has_all_rows(relation_id relation) const {
  if (plan().relations[relation.value].is_asked) return false;
  // If every relation may be read, no relation is restricted, and inputs were complete.
  return !run_.tuned.planning.modes.is_always("unneeded-relations") || (*source_)[relation].rules.empty() ||
         members_[relation.value];
}

const std::vector<const word*>& evaluation::columns_of(std::uint32_t relation) {
  if (const auto found = columns_.find(relation); found != columns_.end()) return found->second;
  const relation_id id(relation);
  std::vector<const word*> columns = executor_->columns(id);
  if (encoding_of(relation) != nullptr) columns = numbers_->restored(relation, columns, executor_->rows(id));
  return columns_.emplace(relation, std::move(columns)).first->second;
}

}  // namespace gpulog::detail
