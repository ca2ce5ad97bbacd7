#include "engine/rows/program_files.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "engine/rows/result_rows.hpp"
#include "exec/calibration.hpp"
#include "gpulog/error.hpp"
#include "io/directive_parameters.hpp"
#include "io/facts_reader.hpp"
#include "io/row_writing.hpp"
#include "io/task_runner.hpp"
#include "storage/relation/relation.hpp"
#include "support/diagnostics.hpp"

namespace gpulog::detail {
namespace {

std::vector<value_kind> kinds_of(const sema::relation& relation) {
  std::vector<value_kind> kinds;
  for (const sema::attribute& attribute : relation.attributes) kinds.push_back(attribute.kind);
  return kinds;
}

/// Returns the structures of the relation's attributes; empty without values that have fields.
io::structured_columns structure_of(const sema::relation& relation, const run_context& run) {
  io::structured_columns result = run.structured();
  bool has_fields = false;
  for (const sema::attribute& attribute : relation.attributes) {
    result.structures.push_back(attribute.structure);
    has_fields = has_fields || attribute.structure.valid();
  }
  if (!has_fields) result.structures.clear();
  return result;
}

/// Returns the size of the file; 0 if unknown.
std::uint64_t file_bytes(const std::filesystem::path& path) {
  std::error_code problem;
  const auto bytes = std::filesystem::file_size(path, problem);
  return problem ? 0 : bytes;
}

/// Returns a name for the target of a directive that does not read or write a text file.
std::string file_named(const std::map<std::string, std::string>& parameters) {
  for (const char* key : {"filename", "dbname", "IO"}) {
    if (const auto found = parameters.find(key); found != parameters.end()) return found->second;
  }
  return "stdout";
}

/// Returns the number of rows to print of a query; all rows for other relations.
std::uint64_t rows_to_print(const sema::relation& relation, const sema::io_directive& directive, std::uint64_t rows) {
  const auto most = directive.parameters.find("most_rows");
  if (!relation.is_query || most == directive.parameters.end()) return rows;
  std::uint64_t number = rows;
  std::from_chars(most->second.data(), most->second.data() + most->second.size(), number);
  return std::min(rows, number);
}

}  // namespace

std::optional<program_files::version> program_files::version_of(const std::filesystem::path& path) {
  std::error_code problem;
  version result;
  result.written = std::filesystem::last_write_time(path, problem);
  if (!problem) result.bytes = std::filesystem::file_size(path, problem);
  return problem ? std::nullopt : std::optional(result);
}

bool program_files::have_changed() const {
  return std::any_of(versions_.begin(), versions_.end(),
                     [](const auto& file) { return version_of(file.first) != file.second; });
}

void program_files::reset() {
  loaded_.assign(loaded_.size(), false);
  reads_once_ = false;
  versions_.clear();
}

template <class Visit>
void program_files::for_each_input(const Visit& visit) const {
  for (std::uint32_t number = 0; number < loaded_.size(); ++number) {
    const sema::relation& relation = run_.relation(number);
    const bool is_read = run_.needed[number] && !run_.source->filled_relations.contains(relation.name);
    if (!is_read || (reads_once_ && loaded_[number])) continue;
    for (const sema::io_directive& directive : relation.directives) {
      if (directive.kind == sema::directive_kind::input) visit(number, directive);
    }
  }
}

std::uint64_t program_files::input_count() const {
  std::uint64_t files = 0;
  for_each_input([&](std::uint32_t, const sema::io_directive&) { ++files; });
  return files;
}

/// A file to read, and its rows.
struct program_files::pending_input {
  std::uint32_t relation;
  io::facts_file file;
  file_statistics figures;
  staged_rows block;
};

io::read_request program_files::read_request_of(std::uint32_t number, const sema::io_directive& directive) {
  const sema::relation& relation = run_.relation(number);
  io::read_request request;
  request.relation = io::name_in_files(relation.name, directive.parameters);
  request.parameters = directive.parameters;
  request.fact_directory = run_.options.fact_directory;
  request.kinds = kinds_of(relation);
  request.structured = structure_of(relation, run_);
  for (const sema::attribute& attribute : relation.attributes) request.attribute_names.push_back(attribute.name);
  if (!run_.unread_texts.empty()) request.unread_texts = run_.unread_texts[number];
  request.missing_is_empty = run_.options.missing_facts_are_empty;
  request.threads = run_.options.jobs;
  request.memory = &run_.values.memory;
  request.bytes_ahead = exec::calibration::bytes_ahead;
  if (const std::uint64_t limit = run_.options.memory_limit; limit != 0)
    request.bytes_ahead = std::min(request.bytes_ahead, limit / 8);
  request.on_size = [this](std::uint64_t bytes) {
    if (run_.device && bytes >= exec::calibration::bytes_for_a_device) run_.device->hurry();
  };
  return request;
}

std::unique_ptr<program_files::pending_input> program_files::prepare_input(std::uint32_t number,
                                                                           const sema::io_directive& directive) {
  auto input = std::make_unique<pending_input>();
  input->relation = number;
  input->file.request = read_request_of(number, directive);
  input->file.allocate = [this, &block = input->block,
                          columns = run_.relation(number).attributes.size()](std::uint64_t rows) {
    if (run_.device && run_.figures.loaded_tuples + rows >= exec::calibration::rows_for_a_device) run_.device->hurry();
    std::vector<word*> pointers;
    block.columns.clear();
    for (std::size_t c = 0; c < columns; ++c) {
      pointers.push_back(block.columns.emplace_back(run_.values.memory.for_columns(), rows).data());
    }
    return pointers;
  };
  const std::string& name = input->file.request.relation;
  input->figures.relation = run_.relation(number).name;
  const auto path = io::text_file_of(name, directive.parameters, run_.options.fact_directory);
  input->figures.file = path ? path->string() : file_named(directive.parameters);
  if (path) input->figures.bytes = file_bytes(*path);
  note_file(name, directive.parameters);
  return input;
}

/// Reads the files, and stages their rows.
/// @throws the first failure in program order
void program_files::load_together(std::vector<std::unique_ptr<pending_input>> inputs) {
  std::vector<span_statistics>& spans = run_.figures.spans;
  const std::string& first = inputs.front()->figures.file;
  spans.push_back({"load", inputs.size() == 1 ? first : fmt::format("{} and {} more", first, inputs.size() - 1),
                   storage::seconds_now() - run_.zero, 0, false});
  run_.figures.files.push_back(inputs.front()->figures);
  std::vector<io::facts_file> files;
  for (const auto& input : inputs) files.push_back(std::move(input->file));
  {
    const std::uint32_t relation = inputs.size() == 1 ? inputs.front()->relation : relation_id().value;
    const exec::run_monitor::long_step here(&run_.monitor, "loading", relation_id(relation), nullptr);
    io::read_files(files, run_.values.symbols);
  }
  run_.figures.files.pop_back();
  spans.pop_back();
  for (std::size_t number = 0; number < files.size(); ++number) {
    const io::facts_file& file = files[number];
    pending_input& input = *inputs[number];
    loaded_[input.relation] = true;
    file_statistics& figures = run_.figures.files.emplace_back(std::move(input.figures));
    spans.push_back({"load", figures.file, file.begin - run_.zero, file.seconds, file.failure == nullptr});
    if (file.failure) rethrow_failure(figures.relation, file.failure);
    figures.rows = input.block.rows = file.rows;
    figures.seconds = file.seconds;
    run_.figures.loaded_tuples += figures.rows;
    if (figures.rows > 0) facts_.stage(input.relation, std::move(input.block));
  }
}

void program_files::rethrow_failure(const std::string& relation, const std::exception_ptr& failure) const {
  try {
    std::rethrow_exception(failure);
  } catch (const std::length_error& fault) {
    throw input_error(fmt::format("Error loading relation {}: {}", relation, fault.what()));
  } catch (const backend::memory_exceeded& fault) {
    throw out_of_memory("loading relation " + relation, fault, run_.values.memory);
  }
}

/// A file that changes later must be read again (have_changed()).
void program_files::note_file(const std::string& relation, const std::map<std::string, std::string>& parameters) {
  const auto path = io::input_file_of(relation, parameters, run_.options.fact_directory);
  if (!path) return;
  auto& now = versions_[*path];
  now = version_of(*path);
  const auto format = parameters.find("IO");
  // A database without a file may change unnoticed, so no version matches.
  if (!now && format != parameters.end() && format->second == "sqlite") now = version{{}, UINTMAX_MAX};
}

void program_files::load() {
  const timed_scope timer(run_.figures.load_seconds, run_.figures.total_seconds);
  std::vector<std::unique_ptr<pending_input>> together;
  const auto load_collected = [&] {
    if (!together.empty()) load_together(std::exchange(together, {}));
  };
  for_each_input([&](std::uint32_t number, const sema::io_directive& directive) {
    const bool is_alone = run_.options.jobs == 1 || !io::is_read_beside_others(read_request_of(number, directive));
    if (is_alone) load_collected();
    together.push_back(prepare_input(number, directive));
    if (is_alone) load_collected();
  });
  load_collected();
  run_.values.symbols.free_outgrown();
}

io::write_request program_files::request_of(const sema::io_directive& directive) const {
  return {directive.parameters, run_.options.output_to_stdout ? "-" : run_.options.output_directory, run_.options.jobs};
}

bool program_files::is_written(const sema::relation& relation, const sema::io_directive& directive) const {
  if (relation.is_query) return run_.source->prints_queries;
  if (directive.kind == sema::directive_kind::printsize) return true;
  if (directive.kind != sema::directive_kind::output) return false;
  const auto kind = directive.parameters.find("IO");
  const bool is_size = kind != directive.parameters.end() && kind->second == "stdoutprintsize";
  return is_size || !run_.options.output_directory.empty();
}

template <class Visit>
void program_files::for_each_output(const Visit& visit) const {
  for (const sema::relation& relation : run_.analysed().relations) {
    for (const sema::io_directive& directive : relation.directives) {
      if (directive.kind == sema::directive_kind::output && is_written(relation, directive)) visit(relation, directive);
    }
  }
}

void program_files::fit_to_program() {
  loaded_.resize(run_.analysed().relations.size());
  struct output {
    io::output_place place;
    const sema::relation* relation;
    const sema::io_directive* directive;
  };
  std::map<std::filesystem::path, std::vector<output>> outputs;  // by file
  places_.clear();
  for_each_output([&](const sema::relation& relation, const sema::io_directive& directive) {
    const auto& place = places_[&directive] =
        io::place_of(io::name_in_files(relation.name, directive.parameters), request_of(directive));
    if (!place) return;
    std::vector<output>& others = outputs[place->file];
    for (const output& other : others) {
      if (!io::overlap(*place, other.place)) continue;
      // The same directive.
      if (&relation == other.relation && directive.parameters == other.directive->parameters) continue;
      diagnostics::entry remark;
      remark.span = directive.span;
      remark.message = fmt::format("Outputs of {} and {} have one file: {}", other.relation->name, relation.name,
                                   place->file.string());
      remark.note(other.directive->span, "Other output");
      std::string text = to_string(remark);
      while (text.ends_with('\n')) text.pop_back();
      throw input_error(text);
    }
    others.push_back({*place, &relation, &directive});
  });
  for (const std::string& path : run_.options.report_files) {
    if (const auto place = io::place_of(path); place && !outputs.try_emplace(place->file).second) {
      throw input_error(fmt::format("{} is the file of another output", path));
    }
  }
}

void program_files::check_outputs() const {
  io::output_check files;
  for_each_output([&](const sema::relation& relation, const sema::io_directive& directive) {
    io::require_writable(io::name_in_files(relation.name, directive.parameters), request_of(directive), files);
  });
}

/// The rows of an .output directive, and how long writing took.
struct program_files::pending_output {
  std::uint32_t relation;
  const sema::io_directive* directive;
  io::relation_rows rows;
  std::unique_ptr<exec::row_stream> stream;
  std::size_t file;  ///< number of the file in the figures
  double begin = 0;  ///< seconds of the steady clock
  double seconds = 0;
};

io::relation_rows program_files::rows_of(std::uint32_t number, const sema::io_directive& directive) const {
  const sema::relation& relation = run_.relation(number);
  io::relation_rows rows;
  rows.relation = io::name_in_files(relation.name, directive.parameters);
  for (const sema::attribute& attribute : relation.attributes) rows.attribute_names.push_back(attribute.name);
  rows.kinds = kinds_of(relation);
  rows.structured = structure_of(relation, run_);
  rows.memory = &run_.values.memory;
  return rows;
}

program_files::pending_output program_files::prepare_output(std::uint32_t number, const sema::io_directive& directive) {
  const sema::relation& relation = run_.relation(number);
  pending_output made{number, &directive, rows_of(number, directive), nullptr, run_.figures.files.size()};
  io::relation_rows& rows = made.rows;
  result_rows results = result_rows_of(number, run_, results_);
  rows.rows = rows_to_print(relation, directive, results.rows);
  rows.read = std::move(results.read);
  rows.columns = std::move(results.columns);
  made.stream = std::move(results.stream);
  rows.columns.resize(relation.attributes.size());
  file_statistics& file = run_.figures.files.emplace_back();
  file.relation = relation.name;
  file.is_output = true;
  const std::optional<io::output_place>& place = places_[&directive];
  file.file = place ? place->file.string() : file_named(directive.parameters);
  file.rows = rows.rows;
  return made;
}

void program_files::write_output(pending_output& output, unsigned threads, io::output_files& files) {
  const sema::relation& relation = run_.relation(output.relation);
  output.begin = storage::seconds_now();
  try {
    io::write_request request = request_of(*output.directive);
    if (relation.is_query) request.output_directory.clear();
    if (relation.is_query && relation.arity() == 0) {
      io::print_answer(output.rows.relation, output.rows.rows != 0, request);
    } else {
      request.threads = threads;
      io::write_relation(output.rows, request, run_.values.symbols, files);
    }
  } catch (const backend::memory_exceeded& fault) {
    throw out_of_memory("writing relation " + relation.name, fault, run_.values.memory);
  }
  output.seconds = storage::seconds_now() - output.begin;
}

void program_files::note_output(const pending_output& output, io::output_files& files) {
  file_statistics& file = run_.figures.files[output.file];
  file.seconds = output.seconds;
  const std::optional<io::output_place>& place = places_[output.directive];
  const io::output_file* const written = place ? files.find(place->file) : nullptr;
  if (written != nullptr) file.bytes = file_bytes(written->temporary_path());
  run_.figures.written_tuples += output.rows.rows;
}

/// Writes an output with all threads.
void program_files::write_alone(pending_output output, io::output_files& files) {
  const span_scope span = run_.span("write", run_.figures.files[output.file].file);
  const exec::run_monitor::long_step here(&run_.monitor, "writing", relation_id(output.relation), nullptr);
  write_output(output, run_.options.jobs, files);
  note_output(output, files);
}

/// Writes outputs with more than a thread's share of all pieces one after another, with all threads.
void program_files::write_files(std::vector<pending_output> outputs, io::output_files& files) {
  std::uint64_t pieces = 0;
  for (const pending_output& output : outputs) pieces += io::count_pieces(output.rows);
  const std::uint64_t share = std::max<std::uint64_t>(pieces / run_.options.jobs, 1);
  std::vector<pending_output> shared;
  for (pending_output& output : outputs) {
    if (io::count_pieces(output.rows) <= share) {
      shared.push_back(std::move(output));
    } else {
      write_alone(std::move(output), files);
    }
  }
  write_together(std::move(shared), files);
}

/// Writes each output with one thread, several outputs at a time, the largest first: written one after the other, small
/// outputs would keep one thread busy. An output that exceeds the memory limit during parallel writing is written again
/// alone.
void program_files::write_together(std::vector<pending_output> outputs, io::output_files& files) {
  std::vector<io::output_files> written(outputs.size());
  const exec::run_monitor::long_step here(&run_.monitor, "writing", relation_id(), nullptr);
  io::task_runner run(run_.options.jobs);
  std::vector<char> exceeded(outputs.size());
  std::vector<std::size_t> order(outputs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return io::count_pieces(outputs[a].rows) > io::count_pieces(outputs[b].rows);
  });
  run(outputs.size(), [&](std::size_t place) {
    const std::size_t number = order[place];
    try {
      write_output(outputs[number], 1, written[number]);
    } catch (const memory_limit_error&) {
      exceeded[number] = 1;
    }
  });
  for (std::size_t number = 0; number < outputs.size(); ++number) {
    if (exceeded[number] != 0) {
      write_alone(std::move(outputs[number]), files);
      continue;
    }
    const pending_output& output = outputs[number];
    files.append(std::move(written[number]));
    note_output(output, files);
    run_.figures.spans.push_back(
        {"write", run_.figures.files[output.file].file, output.begin - run_.zero, output.seconds, true});
  }
}

void program_files::write(io::output_files& files) {
  const timed_scope timer(run_.figures.write_seconds, run_.figures.total_seconds);
  const auto for_each_directive = [&](const auto& visit) {
    for (std::uint32_t number = 0; number < run_.analysed().relations.size(); ++number) {
      for (const sema::io_directive& directive : run_.relation(number).directives) {
        if (is_written(run_.relation(number), directive)) visit(number, directive);
      }
    }
  };
  const auto is_printed = [&](const sema::io_directive& directive) {
    return directive.kind == sema::directive_kind::printsize || io::prints_on_standard_output(request_of(directive));
  };
  // Files first, under temporary names; then standard output, which can't be taken back; the final names last.
  std::vector<pending_output> own_files;
  for_each_directive([&](std::uint32_t number, const sema::io_directive& directive) {
    if (is_printed(directive)) return;
    pending_output output = prepare_output(number, directive);
    // Outputs to a pipe or a device keep their order.
    const bool is_file = places_[&directive].has_value();
    if (run_.options.jobs > 1 && is_file && !output.rows.read && io::has_own_file(request_of(directive))) {
      own_files.push_back(std::move(output));
    } else {
      write_alone(std::move(output), files);
    }
  });
  write_files(std::move(own_files), files);
  if (run_.options.before_printing) run_.options.before_printing();
  for_each_directive([&](std::uint32_t number, const sema::io_directive& directive) {
    if (directive.kind == sema::directive_kind::printsize) {
      io::print_relation_size(io::name_in_files(run_.relation(number).name, directive.parameters),
                              results_.rows(number));
    } else if (is_printed(directive)) {
      write_alone(prepare_output(number, directive), files);
    }
  });
}

}  // namespace gpulog::detail
