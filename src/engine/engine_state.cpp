#include "engine/engine_state.hpp"

#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

#if defined(GPULOG_WITH_CUDA)
#include "exec/cuda/cuda_executor.hpp"
#include "exec/device_strata.hpp"
#include "exec/mixed_executor.hpp"
#endif
#include "engine/column_statistics.hpp"
#include "engine/stages.hpp"
#include "gpulog/error.hpp"
#include "io/facts_reader.hpp"
#include "io/output_files.hpp"
#include "io/relation_writer.hpp"
#include "kernels/pipeline.hpp"
#include "plan/explain.hpp"
#include "plan/planner.hpp"
#include "sema/needed_relations.hpp"
#include "support/error.hpp"

namespace gpulog::detail {
namespace {

/// Without the indentation that all of them have.
std::vector<std::string> lines_of(const std::string& text) {
  const std::size_t indentation = text.find_first_not_of(' ');
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line.substr(std::min(indentation, line.size())));
  return lines;
}

/// Adds the time of a scope to a figure, and to the total.
class timed_scope {
 public:
  timed_scope(double& seconds, double& total) : seconds_(seconds), total_(total) {}
  timed_scope(const timed_scope&) = delete;
  timed_scope& operator=(const timed_scope&) = delete;
  ~timed_scope() {
    const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    seconds_ += passed;
    total_ += passed;
  }

 private:
  double& seconds_;
  double& total_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

std::vector<value_kind> kinds_of(const sema::relation& relation) {
  std::vector<value_kind> kinds;
  for (const sema::attribute& attribute : relation.attributes) kinds.push_back(attribute.kind);
  return kinds;
}

io::structured_columns structure_of(const sema::relation& relation, const sema::program& program,
                                    storage::record_tables& records, storage::wide_values* wide) {
  io::structured_columns result;
  result.wide = wide;
  for (const sema::attribute& attribute : relation.attributes) {
    if (!attribute.structure.valid()) continue;
    result.structures.assign(relation.attributes.size(), structure_id());
    for (std::size_t c = 0; c < relation.attributes.size(); ++c) {
      result.structures[c] = relation.attributes[c].structure;
    }
    result.types = &program.structures;
    result.records = &records;
    break;
  }
  return result;
}

std::string parameter(const sema::io_directive& directive, const std::string& key) {
  const auto found = directive.parameters.find(key);
  return found == directive.parameters.end() ? std::string() : found->second;
}

/// Rows that an executor is given at a time, where it may be given some.
constexpr std::uint64_t rows_per_piece = 1u << 21;

/// With so many rows, or bytes of a file of facts, it is likely that the device will have something to do.
constexpr std::uint64_t rows_for_a_device = 50000;
constexpr std::uint64_t bytes_for_a_device = 500000;

#if defined(GPULOG_WITH_CUDA)
/// The device of a run, whose executor is made when a stratum is given to it.
class starting_device final : public exec::device_source {
 public:
  using maker = std::function<std::unique_ptr<exec::stratum_executor>()>;
  starting_device(device_start& start, maker make) : start_(&start), make_(std::move(make)) {}
  [[nodiscard]] double ready_in() const override { return start_->ready_in(); }
  [[nodiscard]] std::unique_ptr<exec::stratum_executor> make() override {
    return start_->wait().empty() ? make_() : nullptr;
  }

 private:
  device_start* start_;
  maker make_;
};

/// What --place asks for comes before what the rules say, but for what a device can't do.
void set_places(const run_options& options, const sema::program& analysed, const plan::program& planned,
                exec::mixing_rules& rules) {
  rules.wanted_on_device.assign(planned.strata.size(), false);
  for (const auto& [name, backend] : options.places) {
    const auto relation = analysed.find_relation(name);
    for (std::size_t s = 0; s < planned.strata.size(); ++s) {
      const std::vector<relation_id>& members = planned.strata[s].relations;
      if (std::find(members.begin(), members.end(), *relation) == members.end()) continue;
      rules.wanted_on_device[s] = backend == backend_kind::cuda;
      if (backend == backend_kind::cpu) rules.why_not_on_device[s] = "--place " + name + "=cpu";
    }
  }
}
#endif

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

storage::set_choice sets_of(storage_kind kind) {
  if (kind == storage_kind::hash) return storage::set_choice::hash;
  if (kind == storage_kind::words) return storage::set_choice::words;
  return kind == storage_kind::bits ? storage::set_choice::bits : storage::set_choice::automatic;
}

exec::row_mode rows_of(option_mode chosen) {
  if (chosen == option_mode::off) return exec::row_mode::off;
  return chosen == option_mode::on ? exec::row_mode::on : exec::row_mode::automatic;
}

std::uint64_t peak_process_bytes() {
  constexpr std::uint64_t bytes_per_unit = 1024;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * bytes_per_unit;
}

/// @param doing for instance "loading relation a" @param memory the run's
memory_limit_error out_of_memory(const std::string& doing, const backend::memory_exceeded& fault,
                                 const backend::memory_resource& memory) {
  return memory_limit_error(fmt::format("Out of memory while {}: {}", doing, backend::shortage(fault, memory)));
}

/// A folder that nobody chose may be chosen by the program.
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

}  // namespace

engine_state::engine_state(std::shared_ptr<const program_state> program, run_options chosen)
    : source(std::move(program)),
      options(with_folders(std::move(chosen), source->analysed->pragmas)),
      symbols(source->analysed->symbols, symbol_memory),
      records(source->words == word_size::bits64 ? storage::wide_values::most_names : UINT32_MAX, record_memory),
      libraries(options, source->analysed->pragmas),
      needed(options.skip_unneeded ? sema::needed_relations(*source->analysed)
                                   : std::vector<bool>(source->analysed->relations.size(), true)) {
  if (options.joins == join_kind::nested && options.storage != storage_kind::hisa)
    throw input_error("--joins nested is for --storage hisa");
  if (source->words == word_size::bits64) wide.emplace(wide_memory);
  require_places();
  choose_backend();
  if (options.jobs == 0) options.jobs = std::max(1U, std::thread::hardware_concurrency());
  find_functors();
  // In `hisa` mode workers wait while one deduplicates, with workers of its own.
  const std::size_t threads = options.storage == storage_kind::hisa ? std::size_t{2} * options.jobs : options.jobs;
  if (threads > tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism)) {
    more_threads.emplace(tbb::global_control::max_allowed_parallelism, threads);
  }
  memory.set_limit(options.memory_limit);
  staged.resize(analysed().relations.size());

  figures.backend = "cpu";
  figures.storage = name_of(options.storage);
  figures.jobs = options.jobs;
  figures.word_size = static_cast<unsigned>(source->words);
  figures.compile_seconds = figures.total_seconds = source->compile_seconds;
}

const std::vector<const word*>& engine_state::columns_of(std::uint32_t relation) const {
  try {
    if (!results[relation]) results[relation] = executor->columns(relation_id(relation));
  } catch (const exec::memory_fault& fault) {
    throw memory_limit_error(fault.what());
  }
  return *results[relation];
}

void engine_state::find_functors() {
  if (analysed().functors.empty()) return;
  const std::vector<bool> called = called_functors(analysed(), needed);
  functors.emplace(symbols, records, wide_or_none());
  for (std::size_t number = 0; number < called.size(); ++number) {
    const user_functor& described = analysed().functors[number];
    void* function = nullptr;
    if (called[number]) {
      if (const std::string reason = kernels::why_not_callable(described); !reason.empty()) {
        throw input_error(fmt::format("User-defined functor @{} cannot be called: {}", described.name, reason));
      }
      function = libraries.find(described.name);
    }
    functors->add(described, function);
  }
}

void engine_state::choose_backend() {
#if defined(GPULOG_WITH_CUDA)
  if (options.backend != backend_kind::cpu) {
    exec::prepare_cuda_start();
    if (exec::has_cuda_driver()) {
      device = std::make_unique<device_start>([number = options.device] { return exec::start_cuda_device(number); });
      if (options.backend == backend_kind::cuda) device->hurry();
      return;
    }
    if (options.backend == backend_kind::cuda)
      throw input_error("--backend cuda: " + exec::why_no_cuda_device(options.device));
  }
#else
  if (options.backend == backend_kind::cuda) throw input_error("--backend cuda: this gpulog was built without CUDA");
#endif
  require_cpu_options();
}

void engine_state::require_cpu_options() const {
  if (options.device != 0) throw input_error(fmt::format("the cpu backend has no device {}", options.device));
  if (options.joins == join_kind::nested) throw input_error("--joins nested is for a CUDA device, and there is none");
}

void engine_state::require_places() const {
  for (const auto& [name, backend] : options.places) {
    if (!analysed().find_relation(name))
      throw input_error(fmt::format("--place {}: the program has no relation {}", name, name));
    if (backend == backend_kind::cuda && options.backend == backend_kind::cpu)
      throw input_error(fmt::format("--place {}=cuda is not for --backend cpu", name));
  }
}

void engine_state::wait_for_device() {
  if (!device) return;
  const bool is_asked_for =
      options.backend == backend_kind::cuda || options.device != 0 || options.joins == join_kind::nested;
  if (!is_asked_for) return;
  const std::string reason = device->wait();
  if (reason.empty()) return;
  device.reset();
  if (options.backend == backend_kind::cuda) throw input_error("--backend cuda: " + reason);
  require_cpu_options();
}

std::unique_ptr<exec::executor> engine_state::make_executor(const exec::options& chosen) {
  if (make_other_executor) return make_other_executor(chosen);
  if (device) {
    if (auto made = make_device_executor(chosen)) return made;
  }
  return exec::make_cpu_executor(planned, symbols, memory, chosen);
}

/// Strata that the device can't run, and in `auto` those that it is slower for, go to the host. Nothing when the first
/// ones are all.
std::unique_ptr<exec::executor> engine_state::make_device_executor([[maybe_unused]] const exec::options& chosen) {
#if defined(GPULOG_WITH_CUDA)
  exec::mixing_rules rules;
  rules.wide = chosen.wide;
  rules.stop = chosen.stop;
  for (exec::device_stratum& stratum : exec::find_device_strata(planned, chosen)) {
    rules.why_not_on_device.push_back(std::move(stratum.why_not));
    rules.host_steps.push_back(stratum.host_steps.empty() ? "" : "partly by the cpu: " + stratum.host_steps);
  }
  set_places(options, analysed(), planned, rules);
  if (options.backend == backend_kind::automatic) rules.costs.emplace(options.jobs);
  const std::size_t none = planned.strata.size();
  std::size_t refused = none;
  bool any_on_device = false;
  for (std::size_t s = 0; s < planned.strata.size(); ++s) {
    const plan::stratum& stratum = planned.strata[s];
    if (stratum.once.versions.empty() && stratum.loop.empty() && stratum.subsumptions.empty()) continue;
    if (rules.why_not_on_device[s].empty()) {
      any_on_device = true;
    } else if (refused == none) {
      refused = s;
    }
  }
  if (!any_on_device) {
    figures.fallback_reason = refused == none ? "there are no rules" : rules.why_not_on_device[refused];
    return nullptr;
  }
  figures.backend = "cuda";
  const auto make = [this, on_device = chosen, strata = exec::strata_of_device(planned, rules)]() mutable {
    on_device.may_run = strata;
    on_device.backend_name = "cuda";
    return exec::make_cuda_executor(planned, symbols, on_device, options.device, options.memory_limit);
  };
  exec::options on_host = chosen;
  on_host.may_run = exec::strata_of_host(planned, rules);
  return exec::make_mixed_executor(planned, std::make_unique<starting_device>(*device, make),
                                   exec::make_cpu_executor(planned, symbols, memory, on_host), std::move(rules));
#else
  return nullptr;
#endif
}

std::uint64_t engine_state::rows(std::uint32_t relation) const {
  if (has_results()) return executor->rows(relation_id(relation));
  std::uint64_t sum = 0;
  for (const staged_rows& block : staged[relation]) sum += block.rows;
  return sum;
}

word engine_state::at(std::uint32_t relation, std::uint64_t row, std::size_t column) const {
  if (has_results() && planned.relations[relation].is_equivalence) {
    word pair[2];
    word* const columns[] = {pair, pair + 1};
    executor->read_pairs(relation_id(relation), row, 1, columns);
    return pair[column];
  }
  if (has_results()) return columns_of(relation)[column][row];
  for (const staged_rows& block : staged[relation]) {
    if (row < block.rows) return block.columns[column][row];
    row -= block.rows;
  }
  throw std::out_of_range("row of a relation");
}

void engine_state::stage(std::uint32_t relation, const std::vector<word>& row) {
  auto& blocks = staged[relation];
  if (blocks.empty()) {
    staged_rows& first = blocks.emplace_back();
    for (std::size_t c = 0; c < row.size(); ++c) first.columns.emplace_back(memory);
  }
  staged_rows& block = blocks.back();
  for (std::size_t c = 0; c < row.size(); ++c) {
    // What a row left that failed is written over.
    block.columns[c].resize(block.rows);
    block.columns[c].push_back(row[c]);
  }
  ++block.rows;
}

void engine_state::load_directive(std::uint32_t number, const sema::io_directive& directive) {
  const sema::relation& relation = analysed().relations[number];
  io::read_request request;
  request.relation = relation.name;
  request.parameters = directive.parameters;
  request.fact_directory = options.fact_directory;
  request.kinds = kinds_of(relation);
  request.structured = structure_of(relation, analysed(), records, wide_or_none());
  for (const sema::attribute& attribute : relation.attributes) request.attribute_names.push_back(attribute.name);
  request.missing_is_empty = options.missing_facts_are_empty;
  request.threads = options.jobs;
  request.memory = &memory;
  request.on_size = [this](std::uint64_t bytes) {
    if (device && bytes >= bytes_for_a_device) device->hurry();
  };

  staged_rows block;
  const auto allocate = [&](std::uint64_t rows) {
    if (device && figures.loaded_tuples + rows >= rows_for_a_device) device->hurry();
    std::vector<word*> columns;
    for (std::size_t c = 0; c < relation.attributes.size(); ++c) {
      columns.push_back(block.columns.emplace_back(memory, rows).data());
    }
    return columns;
  };
  try {
    block.rows = io::read_facts(request, symbols, allocate);
  } catch (const std::length_error& fault) {
    throw input_error(fmt::format("Error loading relation {}: {}", relation.name, fault.what()));
  } catch (const backend::memory_exceeded& fault) {
    throw out_of_memory("loading relation " + relation.name, fault, memory);
  }
  figures.loaded_tuples += block.rows;
  if (block.rows > 0) staged[number].push_back(std::move(block));
}

void engine_state::load() {
  if (done != step::loading) throw input_error("facts cannot be loaded after the program was evaluated");
  const timed_scope timer(figures.load_seconds, figures.total_seconds);
  for (std::uint32_t number = 0; number < analysed().relations.size(); ++number) {
    if (!needed[number]) continue;
    for (const sema::io_directive& directive : analysed().relations[number].directives) {
      if (directive.kind == sema::directive_kind::input) load_directive(number, directive);
    }
  }
}

void engine_state::hand_over_staged_rows() {
  for (std::uint32_t number = 0; number < staged.size(); ++number) {
    for (staged_rows& block : std::exchange(staged[number], {})) {
      const std::uint64_t piece = may_load_pieces(number) ? rows_per_piece : block.rows;
      for (std::uint64_t begin = 0; begin < block.rows; begin += piece) {
        const std::uint64_t rows = std::min(piece, block.rows - begin);
        std::vector<const word*> columns;
        for (const auto& column : block.columns) columns.push_back(column.data() + begin);
        executor->load(relation_id(number), columns, rows);
        // Rows are in memory twice only piece by piece.
        for (auto& column : block.columns) memory.discard(column.data() + begin, rows * sizeof(word));
      }
    }
  }
}

/// Whether it makes no difference, in result and time, that rows are loaded some at a time.
bool engine_state::may_load_pieces(std::uint32_t relation) const {
  const plan::relation& wanted = planned.relations[relation];
  const bool keeps_all = wanted.choice_domains.empty() && !wanted.is_equivalence && !wanted.best;
  return keeps_all && !device && options.storage != storage_kind::hisa &&
         !analysed().relations[relation].attributes.empty();
}

std::vector<std::uint64_t> engine_state::distinct_values(std::uint32_t relation) const {
  std::vector<std::uint64_t> counts;
  if (rows(relation) == 0) return counts;
  for (std::size_t c = 0; c < analysed().relations[relation].attributes.size(); ++c) {
    distinct_counter values(rows(relation));
    for (const staged_rows& block : staged[relation]) values.add(block.columns[c].data(), block.rows);
    counts.push_back(values.estimate());
  }
  return counts;
}

/// What is loaded of columns; facts of the text are few.
std::vector<value_range> engine_state::values_in(const std::vector<plan::column_place>& columns) const {
  std::vector<value_range> ranges;
  for (const plan::column_place& place : columns) {
    for (const staged_rows& block : staged[place.relation.value]) {
      ranges.push_back({block.columns[place.column].data(), block.rows});
    }
  }
  return ranges;
}

void engine_state::evaluate() {
  if (done != step::loading) throw input_error("a program can be evaluated only once");
  const timed_scope timer(figures.evaluate_seconds, figures.total_seconds);
  plan::statistics known;
  for (std::uint32_t number = 0; number < analysed().relations.size(); ++number) {
    plan::relation_statistics& relation = known.relations.emplace_back();
    if (analysed().relations[number].rules.empty()) relation.rows = rows(number);
    relation.distinct_values = distinct_values(number);
    relation.is_loaded = rows(number) != 0;
  }
  for (const sema::fact& fact : analysed().facts) {
    if (auto& count = known.relations[fact.relation.value].rows) ++*count;
  }
  known.compare_values = [this](const std::vector<plan::column_place>& columns,
                                const std::vector<plan::column_place>& others) {
    return shared_between(values_in(columns), values_in(others));
  };
  planned = plan::make_plan(analysed(), known, planning_options(options));

  exec::options chosen;
  chosen.threads = options.jobs;
  chosen.storage = options.storage == storage_kind::hisa ? storage::storage_mode::hisa : storage::storage_mode::hash;
  chosen.sets = sets_of(options.storage);
  chosen.buffers.eager = options.buffer_factor > 0;
  chosen.buffers.factor = options.buffer_factor;
  chosen.records = &records;
  chosen.wide = wide_or_none();
  chosen.counter = &counter;
  if (functors) chosen.functors = &*functors;
  chosen.stop = options.cancelled;
  chosen.decompose = options.decompose;
  chosen.rows = rows_of(options.rows);
  chosen.best_first = options.best_first;
  if (options.on_progress) {
    chosen.on_progress = [this](const exec::progress& now) {
      options.on_progress({now.stratum, planned.strata.size(), now.iteration, now.tuples, now.seconds, now.backend});
    };
  }
  chosen.joins = options.joins == join_kind::nested ? exec::join_mode::nested : exec::join_mode::materialized;
  done = step::failed;
  try {
    wait_for_device();
    executor = make_executor(chosen);
    hand_over_staged_rows();
    executor->evaluate();
  } catch (const exec::evaluation_fault& fault) {
    throw evaluation_error(fault.what());
  } catch (const exec::memory_fault& fault) {
    throw memory_limit_error(fault.what());
  } catch (const backend::memory_exceeded& fault) {
    throw out_of_memory("evaluating", fault, memory);
  } catch (const std::length_error& fault) {
    throw memory_limit_error(fault.what());  // of numbers that a word has
  } catch (const kernels::interrupted&) {
    throw cancelled_error("The run was cancelled");
  }
  results.resize(analysed().relations.size());
  done = step::evaluated;
  collect_figures();
}

void engine_state::write() {
  if (!has_results()) throw input_error("nothing can be written before the program is evaluated");
  const timed_scope timer(figures.write_seconds, figures.total_seconds);
  io::output_files files;
  const auto write_directive = [&](std::uint32_t number, const sema::io_directive& directive) {
    const sema::relation& relation = analysed().relations[number];
    io::relation_rows rows;
    rows.relation = relation.name;
    for (const sema::attribute& attribute : relation.attributes) rows.attribute_names.push_back(attribute.name);
    rows.kinds = kinds_of(relation);
    rows.structured = structure_of(relation, analysed(), records, wide_or_none());
    const std::unique_ptr<exec::row_stream> copied =
        results[number] ? nullptr : executor->stream_rows(relation_id(number));
    if (planned.relations[number].is_equivalence) {
      rows.columns.resize(relation.attributes.size());
      rows.read = [this, number](std::uint64_t first, std::uint64_t n, word* const* columns) {
        executor->read_pairs(relation_id(number), first, n, columns);
      };
    } else if (copied) {
      rows.columns.resize(relation.attributes.size());
      rows.read = [&copied](std::uint64_t first, std::uint64_t n, word* const* columns) {
        copied->read(first, n, columns);
      };
    } else {
      rows.columns = columns_of(number);
    }
    rows.rows = this->rows(number);
    io::write_request request;
    request.parameters = directive.parameters;
    request.output_directory = options.output_to_stdout ? "-" : options.output_directory;
    request.threads = options.jobs;
    try {
      io::write_relation(rows, request, symbols, files);
    } catch (const backend::memory_exceeded& fault) {
      throw out_of_memory("writing relation " + relation.name, fault, memory);
    }
    figures.written_tuples += rows.rows;
  };
  // Files first, under temporary names; then what cannot be taken back; the names last.
  const auto for_each_directive = [&](bool to_stdout) {
    for (std::uint32_t number = 0; number < analysed().relations.size(); ++number) {
      for (const sema::io_directive& directive : analysed().relations[number].directives) {
        const std::string kind = parameter(directive, "IO");
        const bool is_stdout = options.output_to_stdout || kind == "stdout" || kind == "json";
        if (directive.kind == sema::directive_kind::output && is_stdout == to_stdout) {
          write_directive(number, directive);
        }
        if (directive.kind == sema::directive_kind::printsize && to_stdout) {
          io::print_relation_size(analysed().relations[number].name, rows(number));
        }
      }
    }
  };
  try {
    for_each_directive(false);
    for_each_directive(true);
    files.commit();
  } catch (const user_error& failure) {
    throw output_error(failure.what());
  }
  done = step::written;
  figures.peak_process_bytes = peak_process_bytes();
}

void engine_state::collect_figures() {
  const exec::statistics& measured = executor->figures();
  if (wide) figures.wide_values = wide->size();
  figures.peak_relation_bytes = measured.peak_memory_bytes;
  figures.peak_process_bytes = peak_process_bytes();
  std::vector<std::uint64_t> bytes(planned.relations.size(), 0);
  std::vector<std::string> sets(planned.relations.size());
  for (std::size_t s = 0; s < measured.strata.size() && s < planned.strata.size(); ++s) {
    const exec::stratum_statistics& from = measured.strata[s];
    const plan::stratum& stratum = planned.strata[s];
    stratum_statistics& to = figures.strata.emplace_back();
    for (relation_id relation : stratum.relations) to.relations.push_back(planned.relations[relation.value].name);
    to.recursive = stratum.recursive;
    to.backend = from.backend.empty() ? figures.backend : from.backend;
    to.reason = from.reason;
    to.decomposed = from.decomposed;
    to.numbered = from.numbered;
    to.by_rows = from.by_rows;
    to.iterations = from.iterations;
    to.iterations_before_move = from.iterations_before_move;
    to.seconds = from.seconds;
    to.phases = {{"join", from.join_seconds},   {"populate_delta", from.populate_delta_seconds},
                 {"merge", from.merge_seconds}, {"index", from.index_seconds},
                 {"clear", from.clear_seconds}, {"allocation", from.allocation_seconds}};
    to.tail_iterations = from.tail_iterations;
    to.looped_iterations = from.looped_iterations;
    // The executor numbers versions as the plan lists them: once, then the phases of the loop, then subsumptions.
    std::vector<const plan::rule_version*> versions;
    for (const plan::rule_version& version : stratum.once.versions) versions.push_back(&version);
    for (const plan::phase& phase : stratum.loop) {
      for (const plan::rule_version& version : phase.versions) versions.push_back(&version);
    }
    for (const plan::subsumption& made : stratum.subsumptions) versions.push_back(&made.version);
    for (std::size_t v = 0; v < from.versions.size(); ++v) {
      const exec::version_statistics& version = from.versions[v];
      rule_statistics& rule = to.rules.emplace_back();
      rule = {version.text,    "", version.delta_atom, version.runs, version.candidates, version.tuples,
              version.seconds, {}};
      if (v >= versions.size()) continue;
      rule.location = versions[v]->location;
      rule.plan = lines_of(plan::explain(planned, *versions[v]));
    }
    for (const exec::relation_statistics& relation : from.relations) {
      bytes[relation.relation.value] = relation.bytes;
      sets[relation.relation.value] = relation.set;
    }
  }
  const auto& strata = figures.strata;
  if (figures.backend != "cpu" && std::all_of(strata.begin(), strata.end(), [](const stratum_statistics& stratum) {
        return stratum.rules.empty() || stratum.backend == "cpu";
      })) {
    figures.backend = "cpu";
    const bool is_none = device && std::isinf(device->ready_in());
    figures.fallback_reason =
        is_none ? device->wait() : "no stratum that a device can run was expected to be faster there";
  }
  for (std::uint32_t number = 0; number < planned.relations.size(); ++number) {
    figures.relations.push_back(
        {planned.relations[number].name, executor->rows(relation_id(number)), bytes[number], sets[number]});
  }
}

}  // namespace gpulog::detail
