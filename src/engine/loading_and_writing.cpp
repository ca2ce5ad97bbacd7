#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine_state.hpp"
#include "engine/run_figures.hpp"
#include "gpulog/error.hpp"
#include "io/facts_reader.hpp"
#include "io/output_files.hpp"
#include "io/prefetched_files.hpp"
#include "io/relation_writer.hpp"
#include "support/error.hpp"

/// What the directives of a program (.input, .output, .printsize) do.
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

/// With so many rows, or bytes of a file of facts, it is likely that the device will have something to do.
constexpr std::uint64_t rows_for_a_device = 50000;
constexpr std::uint64_t bytes_for_a_device = 500000;

/// Of compressed files that will be read: text that waits, and threads that make it.
constexpr std::uint64_t bytes_ahead = std::uint64_t{256} << 20;
constexpr unsigned threads_ahead = 8;

}  // namespace

void engine_state::load_directive(std::uint32_t number, const sema::io_directive& directive,
                                  io::prefetched_files* ahead) {
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
  request.ahead = ahead;
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

/// Those that load() reads, in its order.
std::vector<std::filesystem::path> engine_state::text_files() const {
  std::vector<std::filesystem::path> files;
  for (std::uint32_t number = 0; number < analysed().relations.size(); ++number) {
    if (!needed[number]) continue;
    const sema::relation& relation = analysed().relations[number];
    for (const sema::io_directive& directive : relation.directives) {
      if (directive.kind != sema::directive_kind::input) continue;
      if (auto file = io::text_file_of(relation.name, directive.parameters, options.fact_directory)) {
        files.push_back(std::move(*file));
      }
    }
  }
  return files;
}

void engine_state::load() {
  if (done != step::loading) throw input_error("facts cannot be loaded after the program was evaluated");
  const timed_scope timer(figures.load_seconds, figures.total_seconds);
  std::optional<io::prefetched_files> ahead;
  if (options.jobs > 1) {
    std::vector<std::filesystem::path> files = text_files();
    // One file is decompressed beside its parsing in any case.
    const std::uint64_t most =
        options.memory_limit == 0 ? bytes_ahead : std::min(bytes_ahead, options.memory_limit / 8);
    if (files.size() > 1) ahead.emplace(std::move(files), std::min(options.jobs - 1, threads_ahead), most);
  }
  for (std::uint32_t number = 0; number < analysed().relations.size(); ++number) {
    if (!needed[number]) continue;
    for (const sema::io_directive& directive : analysed().relations[number].directives) {
      if (directive.kind == sema::directive_kind::input) load_directive(number, directive, ahead ? &*ahead : nullptr);
    }
  }
}

void engine_state::write() {
  if (!has_results()) throw input_error("nothing can be written before the program is evaluated");
  const timed_scope timer(figures.write_seconds, figures.total_seconds);
  io::output_files files;
  const auto request_of = [this](const sema::io_directive& directive) {
    return io::write_request{directive.parameters, options.output_to_stdout ? "-" : options.output_directory,
                             options.jobs};
  };
  const auto write_directive = [&](std::uint32_t number, const sema::io_directive& directive) {
    const sema::relation& relation = analysed().relations[number];
    io::relation_rows rows;
    rows.relation = relation.name;
    for (const sema::attribute& attribute : relation.attributes) rows.attribute_names.push_back(attribute.name);
    rows.kinds = kinds_of(relation);
    rows.structured = structure_of(relation, analysed(), records, wide_or_none());
    const std::unique_ptr<exec::row_stream> copied =
        results[number] ? nullptr : executor->stream_rows(relation_id(number));
    if (planned().relations[number].is_equivalence) {
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
    if (rows.read && numbers && numbers->covers(number)) {
      rows.read = [this, number, read = std::move(rows.read)](std::uint64_t first, std::uint64_t n,
                                                              word* const* columns) {
        read(first, n, columns);
        numbers->restore(number, n, columns);
      };
    }
    rows.rows = this->rows(number);
    try {
      io::write_relation(rows, request_of(directive), symbols, files);
    } catch (const backend::memory_exceeded& fault) {
      throw out_of_memory("writing relation " + relation.name, fault, memory);
    }
    figures.written_tuples += rows.rows;
  };
  // Files first, under temporary names; then what cannot be taken back; the names last.
  const auto for_each_directive = [&](bool to_stdout) {
    for (std::uint32_t number = 0; number < analysed().relations.size(); ++number) {
      for (const sema::io_directive& directive : analysed().relations[number].directives) {
        if (directive.kind == sema::directive_kind::output &&
            io::prints_on_standard_output(request_of(directive)) == to_stdout) {
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

}  // namespace gpulog::detail
