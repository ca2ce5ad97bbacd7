#include "engine/engine_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "engine/again/program_changes.hpp"
#include "engine/rows/shown_rows.hpp"
#include "gpulog/error.hpp"
#include "support/error.hpp"

namespace gpulog::detail {
namespace {

/// Returns the number of the only query.
std::uint32_t number_of_query(const sema::program& program) {
  const auto& all = program.relations;
  return static_cast<std::uint32_t>(
      std::find_if(all.begin(), all.end(), [](const sema::relation& one) { return one.is_query; }) - all.begin());
}

}  // namespace

engine_state::engine_state(std::shared_ptr<const program_state> source, run_options chosen)
    : run_(std::move(source), std::move(chosen)),
      facts_(run_.values.memory, run_.analysed().relations.size()),
      results_(run_, facts_),
      files_(run_, facts_, results_),
      stored_(run_, facts_, results_, files_),
      report_(run_, results_) {
  // In `hisa` mode, workers wait while one of them deduplicates with additional workers.
  const std::size_t jobs = run_.options.jobs;
  more_threads_.emplace(run_.options.storage == storage_kind::hisa ? 2 * jobs : jobs);
}

proof_search& engine_state::proof_finder() {
  if (!run_.options.proofs) throw input_error("proofs need an engine with the option proofs");
  if (!results_.has_results()) throw input_error("proofs are there after the evaluation");
  if (!proofs_) proofs_ = std::make_unique<proof_search>(run_, results_, facts_);
  return *proofs_;
}

void engine_state::begin_run() {
  report_.record([this] {
    files_.check_outputs();
    if (!run_.options.changes_directory.empty()) stored_.check_changes(run_.options.changes_directory);
    if (!run_.options.state_file.empty()) restore_for_run();
  });
}

void engine_state::restore_for_run() {
  const std::string& path = run_.options.state_file;
  const span_scope span = run_.span("restore", path);
  if (results_.has_begun() || facts_.rows() != 0)
    throw input_error("a run with a state file reads all facts from files: restore() and save() allow inserted facts");
  { const io::output_file trial(path, io::replaceable::regular_file); }
  stored_.note_files();
  if (!state_file::exists(path)) return;
  try {
    within_memory("restoring a state", [&] { stored_.restore(path, true); });
  } catch (const unusable_state& reason) {
    const std::string message = fmt::format("The state {} cannot be used: {}", path, reason.what());
    if (run_.options.state_is_required) throw input_error(message);
    run_.remarks.push_back(message + ". The run starts from scratch");
  }
}

void engine_state::end_run() {
  const std::string& path = run_.options.state_file;
  if (path.empty() || stored_.is_current()) return;
  const span_scope span = run_.span("store", path);
  try {
    save(path);
  } catch (const error& failure) {
    const std::string message = fmt::format("The state {} was not stored: {}", path, failure.what());
    if (run_.options.state_is_required) throw output_error(message);
    run_.remarks.push_back(message);
  }
}

void engine_state::save(const std::string& path) {
  within_memory("storing a state", [&] { stored_.save(path); });
}

void engine_state::restore(const std::string& path) {
  results_.require_changes();
  try {
    within_memory("restoring a state", [&] { stored_.restore(path, false); });
  } catch (const unusable_state& reason) {
    throw input_error(fmt::format("The state {} cannot be used: {}", path, reason.what()));
  }
}

/// Translates errors of memory.
void engine_state::within_memory(const char* doing, const std::function<void()>& work) const {
  try {
    work();
  } catch (const backend::memory_exceeded& fault) {
    throw out_of_memory(doing, fault, run_.values.memory);
  }
}

void engine_state::load() {
  results_.require_changes();
  report_.record([this] {
    report_.resume();
    report_.expect_files(files_.input_count());
    files_.load();
    within_memory("comparing facts", [this] { stored_.stage_changes(); });
  });
}

void engine_state::evaluate() {
  if (is_reporting_) throw input_error("a function of on_change cannot evaluate the program");
  evaluate(true);
}

void engine_state::evaluate(bool keeps_changes) {
  if (results_.is_evaluating()) throw input_error("the program is being evaluated");
  results_.require_changes();
  report_.record([this, keeps_changes] {
    report_.resume();
    proofs_.reset();
    results_.evaluate(keeps_changes);
    report_.collect();
  });
}

row_changes engine_state::changes_of(std::uint32_t relation) const {
  if (!results_.has_results()) throw input_error("changes are there after an evaluation");
  row_changes changes;
  within_memory("comparing results", [&] { changes = results_.changes_of(relation); });
  return changes;
}

void engine_state::on_change(std::uint32_t relation, std::function<void(const changed_rows&)> function) {
  results_.require_changeable(relation);
  if (!function) {
    on_change_.erase(relation);
    return;
  }
  results_.keep_changes(relation);
  on_change_[relation] = std::move(function);
}

void engine_state::report_changes(const std::function<changed_rows(std::uint32_t relation)>& changes) {
  const auto functions = on_change_;  // a function may change the list
  const struct reporting {
    bool& is_active;
    ~reporting() { is_active = false; }
  } active{is_reporting_ = true};
  for (const auto& [relation, function] : functions) {
    const changed_rows rows = changes(relation);
    if (rows.added.size() + rows.removed.size() != 0) function(rows);
  }
}

bool engine_state::must_evaluate_first() const {
  results_.require_changes();
  if (!results_.has_results()) return true;
  bool keeps_changes = false;
  bool have_changed = false;
  for (std::uint32_t number = 0; number < facts_.size(); ++number) {
    keeps_changes = keeps_changes || results_.keeps_changes(number);
    have_changed = have_changed || (run_.needed[number] && (facts_.rows(number) != 0 || facts_.has_erased(number)));
  }
  return keeps_changes && have_changed;
}

void engine_state::write() {
  if (!results_.has_results()) throw input_error("nothing can be written before the program is evaluated");
  report_.record([this] {
    io::output_files files;
    try {
      if (!run_.options.changes_directory.empty()) stored_.write_changes(run_.options.changes_directory, files);
      files_.write(files);
      report_.complete(files);
      files.commit();
    } catch (const user_error& failure) {
      throw output_error(failure.what());
    }
  });
}

void engine_state::reset() {
  if (results_.is_evaluating()) throw input_error("the engine cannot be reset while the program is being evaluated");
  report_.end_renewal();
  const exec::run_monitor::holding held(run_.monitor);
  run_.monitor.begin_run();
  proofs_.reset();
  results_.reset();
  stored_.reset();
  files_.reset();
  facts_.clear();
  if (before_query_) {
    run_.set_program(std::exchange(before_query_, nullptr));
    fit_to_program();
  }
  run_.values.counter = 0;
  run_.begin_figures();
  report_.begin();
}

bool engine_state::change_program(std::shared_ptr<const program_state> next) {
  results_.require_changes();
  if (!next->analysed) throw input_error("the program was rejected:\n" + next->report);
  if (next->symbols_of != &run_.values.symbols) throw input_error("the program was not read for this engine");
  if (!extends(*next->analysed, run_.analysed()) || files_.have_changed()) return false;
  exchange_program(std::move(next));
  before_query_.reset();
  return true;
}

shown_rows engine_state::rows_of_query(std::shared_ptr<const program_state> next) {
  results_.require_changes();
  if (!before_query_) before_query_ = run_.source;
  exchange_program(std::move(next));
  const std::uint32_t number = number_of_query(run_.analysed());
  const struct skipped_later {
    run_context& run;
    std::uint32_t number;
    ~skipped_later() { run.needed[number] = false; }
  } skipped{run_, number};
  evaluate(false);
  return {shared_from_this(), number};
}

void engine_state::exchange_program(std::shared_ptr<const program_state> next) {
  within_memory("taking another program", [&] { results_.change([&] { take_program(std::move(next)); }); });
}

void engine_state::take_program(std::shared_ptr<const program_state> next) {
  report_.end_renewal();
  const exec::run_monitor::holding held(run_.monitor);
  run_.monitor.begin_run();
  proofs_.reset();
  results_.prepare_for(*next->analysed);
  for (std::uint32_t number = 0; number < facts_.size(); ++number) {
    if (!run_.relation(number).is_query) continue;
    // The number of a query is reused.
    facts_.clear(number);
    files_.forget(number);
  }
  const std::size_t facts_before = run_.analysed().facts.size();
  run_.set_program(std::move(next));
  const sema::program& program = run_.analysed();
  fit_to_program();
  files_.read_once();
  // The first evaluation reads the facts of its program itself.
  for (std::size_t number = facts_before; results_.has_begun() && number < program.facts.size(); ++number)
    facts_.stage_row(program.facts[number].relation.value, run_.values.row_of(program.facts[number]));
  report_.begin();
}

void engine_state::fit_to_program() {
  facts_.resize(run_.analysed().relations.size());
  files_.fit_to_program();
}

}  // namespace gpulog::detail
