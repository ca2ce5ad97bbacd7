#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/engine_state.hpp"
#include "engine/figures/run_figures.hpp"
#include "exec/calibration.hpp"
#include "gpulog/error.hpp"
#include "io/directive_parameters.hpp"
#include "io/facts_reader.hpp"
#include "io/files/output_files.hpp"
#include "io/files/prefetched_files.hpp"
#include "io/relation_writer.hpp"
#include "io/task_runner.hpp"
#include "storage/relation/relation.hpp"
#include "support/diagnostics.hpp"
#include "support/error.hpp"

/// Executes the directives of a program (.input, .output, .printsize).
namespace gpulog::detail {

namespace {

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

}  // namespace

void engine_state::load_directive(std::uint32_t number, const sema::io_directive& directive,
                                  io::prefetched_files* ahead) {
  const sema::relation& relation = analysed().relations[number];
  io::read_request request;
  request.relation = io::name_in_files(relation.name, directive.parameters);
  request.parameters = directive.parameters;
  request.fact_directory = options.fact_directory;
  request.kinds = kinds_of(relation);
  request.structured = structure_of(relation, analysed(), records, wide_or_none());
  for (const sema::attribute& attribute : relation.attributes) request.attribute_names.push_back(attribute.name);
  request.missing_is_empty = options.missing_facts_are_empty;
  request.threads = options.jobs;
  request.memory = &memory;
  request.ahead = ahead;
  request.on_size = [this](std::uint64_t bytes) {
    if (device && bytes >= exec::calibration::bytes_for_a_device) device->hurry();
  };

  file_statistics& file = figures.files.emplace_back();
  file.relation = relation.name;
  const auto path = io::text_file_of(request.relation, directive.parameters, options.fact_directory);
  file.file = path ? path->string() : file_named(directive.parameters);
  if (path) file.bytes = file_bytes(*path);
  note_file(request.relation, directive.parameters);
  const span_scope span(figures, zero, "load", file.file);
  const double begin = storage::seconds_now();
  staged_rows block;
  const auto allocate = [&](std::uint64_t rows) {
    if (device && figures.loaded_tuples + rows >= exec::calibration::rows_for_a_device) device->hurry();
    std::vector<word*> columns;
    for (std::size_t c = 0; c < relation.attributes.size(); ++c) {
      columns.push_back(block.columns.emplace_back(memory, rows).data());
    }
    return columns;
  };
  try {
    const exec::run_monitor::long_step here(&monitor, "loading", relation_id(number), nullptr);
    block.rows = io::read_facts(request, symbols, allocate);
  } catch (const std::length_error& fault) {
    throw input_error(fmt::format("Error loading relation {}: {}", relation.name, fault.what()));
  } catch (const backend::memory_exceeded& fault) {
    throw out_of_memory("loading relation " + relation.name, fault, memory);
  }
  file.rows = block.rows;
  file.seconds = storage::seconds_now() - begin;
  figures.loaded_tuples += block.rows;
  if (block.rows > 0) staged[number].push_back(std::move(block));
}

/// A file that changes later must be read again (change_program.cpp).
void engine_state::note_file(const std::string& relation, const std::map<std::string, std::string>& parameters) {
  const auto path = io::input_file_of(relation, parameters, options.fact_directory);
  if (!path) return;
  auto& version = files_read[*path];
  version = version_of(*path);
  const auto format = parameters.find("IO");
  // A database without a file may change unnoticed, so no version matches.
  if (!version && format != parameters.end() && format->second == "sqlite") version = file_version{{}, UINTMAX_MAX};
}

bool engine_state::is_loaded(std::uint32_t relation) const {
  if (reads_files_once && loaded[relation]) return false;
  return needed[relation] && !source->filled_relations.contains(analysed().relations[relation].name);
}

/// Returns the files in the order in which load() reads them.
std::vector<std::filesystem::path> engine_state::text_files() const {
  std::vector<std::filesystem::path> files;
  for (std::uint32_t number = 0; number < analysed().relations.size(); ++number) {
    if (!is_loaded(number)) continue;
    const sema::relation& relation = analysed().relations[number];
    for (const sema::io_directive& directive : relation.directives) {
      if (directive.kind != sema::directive_kind::input) continue;
      if (auto file = io::text_file_of(io::name_in_files(relation.name, directive.parameters), directive.parameters,
                                       options.fact_directory)) {
        files.push_back(std::move(*file));
      }
    }
  }
  return files;
}

void engine_state::load() {
  require_changes();
  recorded([this] {
    continue_record();
    load_files();
  });
}

void engine_state::load_files() {
  const timed_scope timer(figures.load_seconds, figures.total_seconds);
  for (std::uint32_t number = 0; number < analysed().relations.size(); ++number) {
    if (!needed[number]) continue;
    const auto& directives = analysed().relations[number].directives;
    fact_files += static_cast<std::uint64_t>(
        std::count_if(directives.begin(), directives.end(),
                      [](const sema::io_directive& one) { return one.kind == sema::directive_kind::input; }));
  }
  std::optional<io::prefetched_files> ahead;
  if (options.jobs > 1) {
    std::vector<std::filesystem::path> files = text_files();
    // Decompression and parsing of a single file overlap anyway.
    const std::uint64_t most = options.memory_limit == 0
                                   ? exec::calibration::bytes_ahead
                                   : std::min(exec::calibration::bytes_ahead, options.memory_limit / 8);
    if (files.size() > 1)
      ahead.emplace(std::move(files), std::min(options.jobs - 1, exec::calibration::threads_ahead), most);
  }
  for (std::uint32_t number = 0; number < analysed().relations.size(); ++number) {
    if (!is_loaded(number)) continue;
    loaded[number] = true;
    for (const sema::io_directive& directive : analysed().relations[number].directives) {
      if (directive.kind == sema::directive_kind::input) load_directive(number, directive, ahead ? &*ahead : nullptr);
    }
  }
  symbols.free_outgrown();
}

io::write_request engine_state::request_of(const sema::io_directive& directive) const {
  return {directive.parameters, options.output_to_stdout ? "-" : options.output_directory, options.jobs};
}

bool engine_state::is_written(const sema::relation& relation, const sema::io_directive& directive) const {
  if (relation.is_query || directive.kind == sema::directive_kind::printsize) return true;
  if (directive.kind != sema::directive_kind::output) return false;
  const auto kind = directive.parameters.find("IO");
  const bool is_size = kind != directive.parameters.end() && kind->second == "stdoutprintsize";
  return is_size || !options.output_directory.empty();
}

void engine_state::prepare_outputs() {
  struct output {
    io::output_place place;
    const sema::relation* relation;
    const sema::io_directive* directive;
  };
  std::map<std::filesystem::path, std::vector<output>> outputs;  // by file
  output_places.clear();
  for (const sema::relation& relation : analysed().relations) {
    for (const sema::io_directive& directive : relation.directives) {
      if (directive.kind != sema::directive_kind::output || !is_written(relation, directive)) continue;
      const auto& place = output_places[&directive] =
          io::place_of(io::name_in_files(relation.name, directive.parameters), request_of(directive));
      if (!place) continue;
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
    }
  }
  for (const std::string& path : options.report_files) {
    if (const auto place = io::place_of(path); place && !outputs.try_emplace(place->file).second) {
      throw input_error(fmt::format("{} is the file of another output", path));
    }
  }
  begin_reports();
}

void engine_state::check_outputs() {
  recorded([this] {
    io::output_check files;
    for (const sema::relation& relation : analysed().relations) {
      for (const sema::io_directive& directive : relation.directives) {
        if (directive.kind != sema::directive_kind::output || !is_written(relation, directive)) continue;
        io::require_writable(io::name_in_files(relation.name, directive.parameters), request_of(directive), files);
      }
    }
  });
}

void engine_state::begin_reports() {
  if (!reports.empty()) return;
  for (const std::string& path : options.report_files) reports.emplace_back(path);
}

void engine_state::write() {
  if (!has_results()) throw input_error("nothing can be written before the program is evaluated");
  recorded([this] { write_files(); });
}

void engine_state::write_files() {
  io::output_files files;
  try {
    {
      const timed_scope timer(figures.write_seconds, figures.total_seconds);
      write_outputs(files);
    }
    end_renewal();
    figures.outcome = {"complete", "", std::nullopt};
    figures.peak_process_bytes = peak_process_bytes();
    if (timeline) figures.samples = timeline->samples();
    for (io::output_file& report : reports) {
      report.write(to_json(figures));
      report.close();
      files.add(std::move(report));
    }
    reports.clear();
    files.commit();
  } catch (const user_error& failure) {
    throw output_error(failure.what());
  }
  done = step::written;
}

/// The rows of an .output directive, and how long writing took.
struct engine_state::pending_output {
  std::uint32_t relation;
  const sema::io_directive* directive;
  io::relation_rows rows;
  std::unique_ptr<exec::row_stream> stream;
  std::size_t file;  ///< number of the file in the figures
  double begin = 0;  ///< seconds of the steady clock
  double seconds = 0;
};

engine_state::pending_output engine_state::prepare_output(std::uint32_t number, const sema::io_directive& directive) {
  const sema::relation& relation = analysed().relations[number];
  const evaluation& home = *homes[number];
  pending_output made{number, &directive, {}, nullptr, figures.files.size()};
  io::relation_rows& rows = made.rows;
  rows.relation = io::name_in_files(relation.name, directive.parameters);
  for (const sema::attribute& attribute : relation.attributes) rows.attribute_names.push_back(attribute.name);
  rows.kinds = kinds_of(relation);
  rows.structured = structure_of(relation, analysed(), records, wide_or_none());
  rows.memory = &memory;
  rows.rows = this->rows(number);
  if (!home.has_columns(number)) made.stream = home.executor->stream_rows(relation_id(number));
  if (is_equivalence(number)) {
    rows.read = [&home, number](std::uint64_t first, std::uint64_t n, word* const* columns) {
      home.executor->read_pairs(relation_id(number), first, n, columns);
    };
  } else if (made.stream) {
    rows.read = [&stream = *made.stream](std::uint64_t first, std::uint64_t n, word* const* columns) {
      stream.read(first, n, columns);
    };
  } else {
    rows.columns = columns_of(number);
  }
  rows.columns.resize(relation.attributes.size());
  if (rows.read && home.numbers && home.numbers->covers(number)) {
    rows.read = [&home, number, read = std::move(rows.read)](std::uint64_t first, std::uint64_t n,
                                                             word* const* columns) {
      read(first, n, columns);
      home.numbers->restore(number, n, columns);
    };
  }
  file_statistics& file = figures.files.emplace_back();
  file.relation = relation.name;
  file.is_output = true;
  const std::optional<io::output_place>& place = output_places[&directive];
  file.file = place ? place->file.string() : file_named(directive.parameters);
  file.rows = rows.rows;
  return made;
}

void engine_state::write_output(pending_output& output, unsigned threads, io::output_files& files) {
  const sema::relation& relation = analysed().relations[output.relation];
  output.begin = storage::seconds_now();
  try {
    if (relation.is_query && relation.arity() == 0) {
      io::print_answer(output.rows.relation, output.rows.rows != 0);
    } else {
      io::write_request request = request_of(*output.directive);
      request.threads = threads;
      io::write_relation(output.rows, request, symbols, files);
    }
  } catch (const backend::memory_exceeded& fault) {
    throw out_of_memory("writing relation " + relation.name, fault, memory);
  }
  output.seconds = storage::seconds_now() - output.begin;
}

void engine_state::note_output(const pending_output& output, io::output_files& files) {
  file_statistics& file = figures.files[output.file];
  file.seconds = output.seconds;
  const std::optional<io::output_place>& place = output_places[output.directive];
  const io::output_file* const written = place ? files.find(place->file) : nullptr;
  if (written != nullptr) file.bytes = file_bytes(written->temporary_path());
  figures.written_tuples += output.rows.rows;
}

/// Writes an output with all threads.
void engine_state::write_alone(pending_output output, io::output_files& files) {
  const span_scope span(figures, zero, "write", figures.files[output.file].file);
  const exec::run_monitor::long_step here(&monitor, "writing", relation_id(output.relation), nullptr);
  write_output(output, options.jobs, files);
  note_output(output, files);
}

/// Writes each output with one thread, several outputs at a time: written one after the other, small outputs
/// would keep one thread busy. An output that exceeds the memory limit during parallel writing is written again alone.
void engine_state::write_together(std::vector<pending_output> outputs, io::output_files& files) {
  std::vector<io::output_files> written(outputs.size());
  const exec::run_monitor::long_step here(&monitor, "writing", relation_id(), nullptr);
  io::task_runner run(options.jobs);
  std::vector<char> exceeded(outputs.size());
  run(outputs.size(), [&](std::size_t number) {
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
    figures.spans.push_back({"write", figures.files[output.file].file, output.begin - zero, output.seconds, true});
  }
}

void engine_state::write_outputs(io::output_files& files) {
  const auto for_each_directive = [&](const auto& visit) {
    for (std::uint32_t number = 0; number < analysed().relations.size(); ++number) {
      for (const sema::io_directive& directive : analysed().relations[number].directives) {
        if (is_written(analysed().relations[number], directive)) visit(number, directive);
      }
    }
  };
  const auto is_printed = [&](const sema::io_directive& directive) {
    return directive.kind == sema::directive_kind::printsize || io::prints_on_standard_output(request_of(directive));
  };
  // Files first, under temporary names; then standard output, which can't be taken back; the final names last.
  std::vector<pending_output> small;
  for_each_directive([&](std::uint32_t number, const sema::io_directive& directive) {
    if (is_printed(directive)) return;
    pending_output output = prepare_output(number, directive);
    // Outputs to a pipe or a device keep their order.
    const bool is_file = output_places[&directive].has_value();
    if (options.jobs > 1 && is_file && !output.rows.read && io::is_small(output.rows, request_of(directive))) {
      small.push_back(std::move(output));
    } else {
      write_alone(std::move(output), files);
    }
  });
  write_together(std::move(small), files);
  for_each_directive([&](std::uint32_t number, const sema::io_directive& directive) {
    if (directive.kind == sema::directive_kind::printsize) {
      io::print_relation_size(io::name_in_files(analysed().relations[number].name, directive.parameters), rows(number));
    } else if (is_printed(directive)) {
      write_alone(prepare_output(number, directive), files);
    }
  });
}

}  // namespace gpulog::detail
