#include "engine/engine_state.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <thread>
#include <utility>

#include "engine/figures/run_figures.hpp"
#include "engine/proofs/proof_search.hpp"
#include "engine/rows/column_statistics.hpp"
#include "gpulog/error.hpp"
#include "kernels/join/pipeline.hpp"
#include "plan/planner.hpp"
#include "sema/checks/needed_relations.hpp"
#include "sema/print.hpp"
#include "storage/relation/relation.hpp"

namespace gpulog::detail {
namespace {

/// Number of rows loaded into an executor at a time, if it accepts pieces.
constexpr std::uint64_t rows_per_piece = 1u << 21;

const char* name_of(storage_kind kind) {
  switch (kind) {
    case storage_kind::automatic:
      return "auto";
    case storage_kind::hisa:
      return "hisa";
    case storage_kind::hash:
      return "hash";
    case storage_kind::bits:
      return "bits";
    case storage_kind::words:
      return "words";
  }
  return "";
}

/// Converts to an enum of the executor, which has the same values.
template <class Mode>
Mode mode_of(tuning_mode mode) {
  if (mode == tuning_mode::always) return Mode::always;
  if constexpr (requires { Mode::off; }) {
    if (mode == tuning_mode::off) return Mode::off;
  }
  return Mode::automatic;
}

storage::set_choice sets_of(storage_kind kind) {
  if (kind == storage_kind::hash) return storage::set_choice::hash;
  if (kind == storage_kind::words) return storage::set_choice::words;
  return kind == storage_kind::bits ? storage::set_choice::bits : storage::set_choice::automatic;
}

/// Takes folders from the program's pragmas unless the caller chose some.
run_options with_folders(run_options chosen, const std::map<std::string, std::string>& pragmas) {
  const auto from_pragma = [&pragmas](const std::string& key, std::string& folder) {
    const auto found = pragmas.find(key);
    if (folder == run_options{}.fact_directory && found != pragmas.end()) folder = found->second;
  };
  from_pragma("fact-dir", chosen.fact_directory);
  from_pragma("output-dir", chosen.output_directory);
  chosen.output_to_stdout = chosen.output_to_stdout || chosen.output_directory == "-";
  return chosen;
}

/// Replaces names introduced by the planner in a message of the executor.
std::string with_names_of_program(const std::string& message) {
  const std::size_t place = std::min(message.find("\nin file "), message.size());
  return sema::without_made_names(std::string_view(message).substr(0, place)) + message.substr(place);
}

}  // namespace

memory_limit_error out_of_memory(const std::string& doing, const backend::memory_exceeded& fault,
                                 const backend::memory_resource& memory) {
  return memory_limit_error(fmt::format("Out of memory while {}: {}", doing, backend::shortage(fault, memory)));
}

engine_state::engine_state(std::shared_ptr<const program_state> program, run_options chosen)
    : source(std::move(program)),
      options(with_folders(std::move(chosen), source->analysed->pragmas)),
      tuned(tuning_of(options)),
      symbols(source->analysed->symbols, symbol_memory),
      records(source->words == word_size::bits64 ? storage::wide_values::most_names : UINT32_MAX, record_memory),
      libraries(options, source->analysed->pragmas),
      needed(needed_now()) {
  if (tuned.joins == exec::join_mode::nested && options.storage != storage_kind::hisa)
    throw input_error("--tune joins=nested is for --storage hisa");
  if (source->words == word_size::bits64) wide.emplace(wide_memory);
  require_places();
  prepare_outputs();
  choose_backend();
  if (options.jobs == 0) options.jobs = std::max(1U, std::thread::hardware_concurrency());
  find_functors();
  // In `hisa` mode, workers wait while one of them deduplicates with additional workers.
  const std::size_t threads = options.storage == storage_kind::hisa ? std::size_t{2} * options.jobs : options.jobs;
  // The query itself starts TBB, which a single thread does not need.
  if (threads > 1 && threads > tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism)) {
    more_threads.emplace(tbb::global_control::max_allowed_parallelism, threads);
  }
  memory.set_limit(options.memory_limit);
  staged.resize(analysed().relations.size());
  kept.resize(staged.size());
  erased.resize(staged.size());
  loaded.resize(staged.size());
  stale.resize(staged.size());
  begin_figures();
  begin_record();
  list_as_running();
}

std::vector<bool> engine_state::needed_now() const {
  if (tuned.planning.modes.is_always("unneeded-relations")) return sema::needed_relations(analysed());
  return std::vector<bool>(analysed().relations.size(), true);
}

void engine_state::begin_figures() {
  figures = {};
  figures.backend = "cpu";
  figures.storage = name_of(options.storage);
  figures.jobs = options.jobs;
  figures.word_size = static_cast<unsigned>(source->words);
  figures.compile_seconds = figures.total_seconds = source->compile_seconds;
  zero = storage::seconds_now() - source->compile_seconds;
  figures.spans.push_back({"compile", "", 0, source->compile_seconds, true});
}

engine_state::~engine_state() { end_record(); }

const std::vector<const word*>& engine_state::columns_of(std::uint32_t relation) const {
  try {
    return homes[relation]->columns_of(relation);
  } catch (const exec::memory_fault& fault) {
    throw memory_limit_error(with_names_of_program(fault.what()));
  } catch (const backend::memory_exceeded& fault) {
    throw out_of_memory("reading relation " + analysed().relations[relation].name, fault, memory);
  }
}

std::uint64_t engine_state::rows(std::uint32_t relation) const {
  if (has_results_of(relation)) return homes[relation]->executor->rows(relation_id(relation));
  std::uint64_t sum = 0;
  for (const staged_rows& block : staged[relation]) sum += block.rows;
  return sum;
}

word engine_state::at(std::uint32_t relation, std::uint64_t row, std::size_t column) const {
  if (has_results_of(relation) && is_equivalence(relation)) {
    word pair[2];
    word* const columns[] = {pair, pair + 1};
    homes[relation]->executor->read_pairs(relation_id(relation), row, 1, columns);
    return pair[column];
  }
  if (has_results_of(relation)) return columns_of(relation)[column][row];
  for (const staged_rows& block : staged[relation]) {
    if (row < block.rows) return block.columns[column][row];
    row -= block.rows;
  }
  throw std::out_of_range("row of a relation");
}

bool engine_state::contains(std::uint32_t relation, std::span<const word> row) {
  if (row.empty()) return rows(relation) != 0;
  if (!has_results_of(relation)) {
    const auto has_row = [row](const staged_rows& block) {
      for (std::uint64_t i = 0; i < block.rows; ++i) {
        std::size_t column = 0;
        while (column < row.size() && block.columns[column][i] == row[column]) ++column;
        if (column == row.size()) return true;
      }
      return false;
    };
    return std::any_of(staged[relation].begin(), staged[relation].end(), has_row);
  }
  const relation_id id(relation);
  try {
    if (is_equivalence(relation)) {
      return classes.try_emplace(relation, *homes[relation]->executor, id).first->second.are_equal(row[0], row[1]);
    }
    auto found = row_indexes.find(relation);
    if (found == row_indexes.end()) {
      found = row_indexes.emplace(relation, row_index(columns_of(relation), rows(relation), memory)).first;
    }
    return found->second.contains(row);
  } catch (const backend::memory_exceeded& fault) {
    throw out_of_memory("looking for a row of relation " + analysed().relations[relation].name, fault, memory);
  }
}

proof_search& engine_state::proof_finder() {
  if (!options.proofs) throw input_error("proofs are there for runs with run_options::proofs");
  if (!has_results()) throw input_error("proofs are there after the evaluation");
  if (!proofs) proofs = std::make_unique<proof_search>(*this);
  return *proofs;
}

void engine_state::stage(std::uint32_t relation, const std::vector<word>& row) {
  auto& blocks = staged[relation];
  // Erased rows apply to the blocks that existed at that time.
  const bool ends_block = !erased[relation].empty() && erased[relation].latest == blocks.size();
  if (blocks.empty() || ends_block) blocks.emplace_back();
  append_row(blocks.back(), row, memory);
}

void engine_state::hand_over_staged_rows() {
  for (std::uint32_t number = 0; number < staged.size(); ++number) {
    for (staged_rows& block : std::exchange(staged[number], {})) {
      const std::uint64_t piece = may_load_pieces(number) ? rows_per_piece : block.rows;
      for (std::uint64_t begin = 0; begin < block.rows; begin += piece) {
        const std::uint64_t rows = std::min(piece, block.rows - begin);
        std::vector<const word*> columns;
        for (const auto& column : block.columns) columns.push_back(column.data() + begin);
        current->executor->load(relation_id(number), columns, rows);
        // At most one piece of the rows is in memory twice.
        for (auto& column : block.columns) memory.discard(column.data() + begin, rows * sizeof(word));
      }
    }
  }
}

/// Returns whether loading the rows in pieces affects neither the result nor the time.
bool engine_state::may_load_pieces(std::uint32_t relation) const {
  const plan::relation& wanted = planned().relations[relation];
  const bool keeps_all = wanted.choice_domains.empty() && !wanted.is_equivalence && !wanted.best;
  return keeps_all && !device && options.storage != storage_kind::hisa &&
         !analysed().relations[relation].attributes.empty();
}

std::vector<std::uint64_t> engine_state::distinct_values(std::uint32_t relation, io::task_runner& run) const {
  if (rows(relation) == 0) return {};
  std::vector<std::vector<value_range>> columns(analysed().relations[relation].attributes.size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    for (const staged_rows& block : staged[relation]) columns[c].push_back({block.columns[c].data(), block.rows});
  }
  return count_distinct(columns, rows(relation), run);
}

/// Returns the loaded values of columns; ignores facts of the text, which are few.
std::vector<value_range> engine_state::values_in(const std::vector<plan::column_place>& columns) const {
  std::vector<value_range> ranges;
  for (const plan::column_place& place : columns) {
    if (place.relation.value >= staged.size()) continue;  // made by the planner from facts of the text
    for (const staged_rows& block : staged[place.relation.value]) {
      ranges.push_back({block.columns[place.column].data(), block.rows});
    }
  }
  return ranges;
}

void engine_state::encode_values(const plan::statistics& known) {
  const bool has_matrices = options.storage == storage_kind::automatic || options.storage == storage_kind::bits;
  const bool everywhere = tuned.run.is_always("dense-domain-encoding");
  if (tuned.run.is_off("dense-domain-encoding") || !(everywhere || has_matrices)) return;
  std::uint64_t facts = 0;
  for (std::uint32_t number = 0; number < staged.size(); ++number) facts += rows(number);
  if (!everywhere && facts < exec::calibration::least_encoded_rows) return;
  dense_domain_encoding made(planned(), memory, wide_or_none());
  encoding_choice chosen;
  chosen.everywhere = everywhere;
  if (options.memory_limit != 0) chosen.largest_matrix = std::min(chosen.largest_matrix, options.memory_limit / 4);
  if (!made.apply(chosen, known, staged)) return;
  figures.dense_columns = made.columns();
  current->numbers.emplace(std::move(made));
}

bool engine_state::reoptimize(std::size_t stratum, bool is_running) {
  evaluation& running = *current;
  const auto suits = [&] { return !running.suits_device || running.suits_device(stratum); };
  plan::reoptimizer& planner = *running.planner;
  const bool is_planned = is_running ? planner.reoptimize_loop(stratum, *running.measures, suits)
                                     : planner.reoptimize(stratum, *running.measures, suits);
  if (is_planned) take_over_plan(stratum);
  return is_planned;
}

std::vector<relation_id> engine_state::abandon(std::size_t stratum, relation_id supplementary) {
  evaluation& running = *current;
  const auto suits = [&] { return !running.suits_device || running.suits_device(stratum); };
  std::vector<relation_id> abandoned = running.planner->abandon(stratum, supplementary, *running.measures, suits);
  if (!abandoned.empty()) take_over_plan(stratum);
  return abandoned;
}

/// The planner has planned versions of a stratum again.
void engine_state::take_over_plan(std::size_t stratum) {
  evaluation& running = *current;
  running.record.note_reordered(*running.planner, stratum);
  if (running.numbers) running.numbers->take_over(planned(), stratum);
}

/// Collects the statistics of the facts for the planner.
plan::statistics engine_state::measure_facts() const {
  const sema::program& part = *current->source;
  plan::statistics known;
  io::task_runner run(options.jobs);
  for (std::uint32_t number = 0; number < part.relations.size(); ++number) {
    plan::relation_statistics& relation = known.relations.emplace_back();
    if (part.relations[number].rules.empty() || current->continued) relation.rows = rows(number);
    relation.distinct_values = distinct_values(number, run);
    relation.is_loaded = rows(number) != 0;
  }
  for (const sema::fact& fact : part.facts) {
    if (auto& count = known.relations[fact.relation.value].rows) ++*count;
  }
  known.compare_values = [this](const std::vector<plan::column_place>& columns,
                                const std::vector<plan::column_place>& others) {
    return shared_between(values_in(columns), values_in(others));
  };
  return known;
}

exec::options engine_state::execution_options() {
  exec::options chosen;
  chosen.threads = options.jobs;
  chosen.storage = options.storage == storage_kind::hisa ? storage::storage_mode::hisa : storage::storage_mode::hash;
  chosen.sets = sets_of(options.storage);
  chosen.buffers.eager = tuned.buffer_factor > 0;
  chosen.buffers.factor = tuned.buffer_factor;
  chosen.records = &records;
  chosen.wide = wide_or_none();
  chosen.counter = &counter;
  if (functors) chosen.functors = &*functors;
  chosen.stop = options.cancelled;
  chosen.products = mode_of<exec::product_mode>(tuned.planning.modes.of("row-products"));
  chosen.row_wise = mode_of<exec::row_wise_mode>(tuned.planning.modes.of("row-wise-evaluation"));
  chosen.condensation = mode_of<exec::condensation_mode>(tuned.run.of("condensation"));
  chosen.row_takeover = mode_of<exec::row_takeover_mode>(tuned.run.of("row-takeover"));
  chosen.priority_delta = !tuned.run.is_off("priority-delta");
  if (options.on_progress) {
    chosen.on_progress = [this](const exec::progress& now) {
      options.on_progress({now.stratum, planned().strata.size(), now.iteration, now.tuples, now.seconds, now.backend});
    };
  }
  chosen.joins = tuned.joins;
  chosen.monitor = &monitor;
  chosen.is_watched = has_watchers();
  chosen.records_iterations = !options.report_files.empty();
  chosen.counts_steps = options.count_rows || !options.report_files.empty();
  return chosen;
}

plan::statistics engine_state::plan_current(const plan::options& chosen) {
  plan::statistics known;
  {
    const span_scope span(figures, zero, "measure");
    const exec::run_monitor::long_step here(&monitor, "", relation_id(), nullptr);
    known = measure_facts();
  }
  const span_scope span(figures, zero, "plan");
  const exec::run_monitor::long_step here(&monitor, "", relation_id(), nullptr);
  current->planner.emplace(*current->source, known, chosen,
                           tuned.run.is_always("reoptimization") ? 0 : plan::calibration::least_reordered_rows);
  current->record.note_planned(*current->planner);
  current->members.assign(current->plan().relations.size(), false);
  for (const plan::stratum& stratum : current->plan().strata) {
    for (const relation_id member : stratum.relations) current->members[member.value] = true;
  }
  return known;
}

void engine_state::evaluate_staged(std::shared_ptr<const sema::program> part, const std::vector<bool>& relations) {
  monitor.begin_run();
  current = std::make_shared<evaluation>();
  latest.push_back(current);
  current->text = source;
  current->source = std::move(part);
  move_home(relations);
  plan::options planning = tuned.planning;
  planning.has_device = device != nullptr;
  const plan::statistics known = plan_current(planning);
  exec::options chosen = execution_options();
  encode_values(known);
  if (!tuned.run.is_off("reoptimization")) {
    chosen.reoptimize = [this](std::size_t next) { return reoptimize(next, false); };
    chosen.reoptimize_loop = [this](std::size_t running) { return reoptimize(running, true); };
  }
  if (!tuned.planning.modes.is_always(plan::supplementary_pass)) {
    chosen.supplementary.work_without = [this](std::size_t running, relation_id one) {
      return current->planner->work_without(running, one, *current->measures);
    };
    chosen.supplementary.abandon = [this](std::size_t running, relation_id one) { return abandon(running, one); };
  }
  if (tuned.run.is_always("reoptimization")) chosen.cut.reoptimized_bindings = 0;
  wait_for_device();
  current->executor = make_executor(chosen);
  current->measures.emplace(*current->executor);
  {
    const span_scope span(figures, zero, "take over");
    hand_over_staged_rows();
  }
  const span_scope span(figures, zero, "evaluate");
  current->executor->evaluate();
}

void engine_state::evaluate_first() {
  const auto first = first_program();
  keep_facts(*first);
  homes.resize(analysed().relations.size());
  forget_evaluation();
  // Facts of relations that no output needs are set aside: a later program may need them.
  staged_facts waiting_facts(staged.size());
  for (std::uint32_t number = 0; number < staged.size(); ++number) {
    if (!needed[number]) staged[number].swap(waiting_facts[number]);
  }
  evaluate_staged(first, needed);
  for (std::uint32_t number = 0; number < staged.size(); ++number) {
    if (!needed[number]) staged[number].swap(waiting_facts[number]);
  }
  for (const sema::fact& fact : first->facts) {
    if (!needed[fact.relation.value]) stage(fact.relation.value, row_of(fact));
  }
}

void engine_state::attempt(const std::function<void()>& evaluating) {
  const timed_scope timer(figures.evaluate_seconds, figures.total_seconds);
  done = step::evaluating;
  const struct failed_unless_done {
    std::atomic<step>& done;
    ~failed_unless_done() {
      if (done == step::evaluating) done = step::failed;
    }
  } watched{done};
  try {
    evaluating();
  } catch (const exec::evaluation_fault& fault) {
    throw evaluation_error(with_names_of_program(fault.what()));
  } catch (const exec::memory_fault& fault) {
    throw memory_limit_error(with_names_of_program(fault.what()));
  } catch (const backend::memory_exceeded& fault) {
    throw out_of_memory("evaluating", fault, memory);
  } catch (const std::length_error& fault) {
    throw memory_limit_error(fault.what());  // a table is full: its numbers are words
  } catch (const kernels::interrupted&) {
    throw cancelled_error("The run was cancelled");
  }
  done = step::evaluated;
}

void engine_state::evaluate() {
  if (done == step::evaluating) throw input_error("the program is being evaluated");
  if (done == step::failed) throw input_error("an evaluation has failed: the engine has to be reset");
  recorded([this] {
    continue_record();
    attempt([this] { homes.empty() ? evaluate_first() : evaluate_again(); });
    collect_figures();
  });
}

}  // namespace gpulog::detail
