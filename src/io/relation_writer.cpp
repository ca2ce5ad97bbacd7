#include "io/relation_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <system_error>

#include "io/directive_parameters.hpp"
#include "io/formats.hpp"
#include "io/row_writing.hpp"
#include "support/error.hpp"

namespace gpulog::io {
namespace {

const format& format_of(const write_request& request) {
  const bool all_to_standard_output = request.output_directory == "-";
  const std::string kind =
      all_to_standard_output ? "stdout" : directive_parameters(request.parameters).text("IO", "file");
  const format* const chosen = find_format(kind);
  if (chosen == nullptr || chosen->write == nullptr) {
    throw user_error(fmt::format("Requested output type <{}> is not supported.{}", kind,
                                 meant_format(kind, [](const format& one) { return one.write != nullptr; })));
  }
  return *chosen;
}

/// SQLite compares names without regard to case.
std::string lower_case(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char byte) { return static_cast<char>(std::tolower(byte)); });
  return name;
}

}  // namespace

bool prints_on_standard_output(const write_request& request) {
  const format* const chosen = find_format(directive_parameters(request.parameters).text("IO", "file"));
  return request.output_directory == "-" || (chosen != nullptr && chosen->prints);
}

std::optional<output_place> place_of(const std::filesystem::path& file) {
  if (is_written_in_place(file)) return std::nullopt;
  std::error_code ignored;
  output_place place{std::filesystem::weakly_canonical(std::filesystem::absolute(file), ignored), {}};
  if (ignored) place.file = file;
  return place;
}

std::optional<output_place> place_of(const std::string& relation, const write_request& request) {
  if (prints_on_standard_output(request)) return std::nullopt;
  try {
    const format& chosen = format_of(request);
    const std::string name = output_name(relation, directive_parameters(request.parameters));
    auto place = place_of(request.output_directory / name);
    if (place && chosen.has_parts) place->part = lower_case(relation);
    return place;
  } catch (const user_error& problem) {
    throw user_error(fmt::format("Error writing {} data: {}", relation, problem.what()));
  }
}

bool overlap(const output_place& a, const output_place& b) {
  if (a.file != b.file) return false;
  return a.part.empty() || b.part.empty() || a.part == b.part || "_" + a.part == b.part || a.part == "_" + b.part;
}

void require_writable(const std::string& relation, const write_request& request, output_check& files) {
  try {
    const format& chosen = format_of(request);
    if (chosen.check != nullptr) chosen.check(relation, request);
    if (chosen.extension.empty()) return;
    files.require_writable(request.output_directory / output_name(relation, directive_parameters(request.parameters)));
  } catch (const user_error& problem) {
    throw user_error(fmt::format("Error writing {} data: {}", relation, problem.what()));
  }
}

void write_relation(const relation_rows& rows, const write_request& request, const storage::symbol_table& symbols,
                    output_files& files) {
  ensure(rows.kinds.size() == rows.columns.size(), "a relation has a kind for every column");
  try {
    format_of(request).write(rows, request, symbols, files);
  } catch (const user_error& problem) {
    throw user_error(fmt::format("Error writing {} data: {}", rows.relation, problem.what()));
  }
}

bool has_own_file(const write_request& request) { return !format_of(request).has_parts; }

void print_relation_size(const std::string& relation, std::uint64_t rows) {
  print_text(fmt::format("{}\t{}\n", relation, rows));
}

void print_answer(const std::string& query, bool holds, const write_request& request) {
  const directive_parameters parameters(request.parameters);
  const bool is_framed = parameters.text("IO", "stdout") == "stdout" && parameters.text("framed", "true") == "true";
  print_text(is_framed ? fmt::format("---------------\n{}\n===============\n{}\n===============\n", query, holds)
                       : fmt::format("{}\n", holds));
}

}  // namespace gpulog::io
