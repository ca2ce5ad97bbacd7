#include "io/facts_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "io/directive_parameters.hpp"
#include "io/formats.hpp"
#include "io/formats/text/text_reader.hpp"
#include "storage/representation/hisa_rows.hpp"
#include "support/error.hpp"

namespace gpulog::io {

std::vector<backend::array<word>> empty_columns(const read_request& request) {
  std::vector<backend::array<word>> columns;
  for (std::size_t column = 0; column < request.kinds.size(); ++column) columns.emplace_back(*request.memory);
  return columns;
}

void hand_over(std::vector<backend::array<word>>& parsed, std::uint64_t rows, const row_allocator& allocate) {
  if (rows == 0) return;
  const std::vector<word*> columns = allocate(rows);
  for (std::size_t column = 0; column < columns.size(); ++column) {
    std::copy(parsed[column].begin(), parsed[column].end(), columns[column]);
    parsed[column].release();
  }
}

std::optional<std::filesystem::path> text_file_of(const std::string& relation,
                                                  const std::map<std::string, std::string>& parameters,
                                                  const std::filesystem::path& fact_directory) {
  const directive_parameters directive(parameters);
  if (directive.text("IO", "file") != "file") return std::nullopt;
  return fact_directory / directive.text("filename", relation + ".facts");
}

std::optional<std::filesystem::path> input_file_of(const std::string& relation,
                                                   const std::map<std::string, std::string>& parameters,
                                                   const std::filesystem::path& fact_directory) {
  const directive_parameters directive(parameters);
  const std::string kind = directive.text("IO", "file");
  const format* const chosen = find_format(kind);
  if (chosen == nullptr || chosen->extension.empty()) return std::nullopt;
  const std::string extension = kind == "file" ? ".facts" : std::string(chosen->extension);
  return fact_directory / directive.text("filename", directive.text("dbname", relation + extension));
}

std::uint64_t read_facts(const read_request& request, storage::symbol_table& symbols, const row_allocator& allocate) {
  for (const value_kind attribute : request.kinds) {
    ensure(!is_structured(attribute) || request.structured.records != nullptr, "records are read into a table");
  }
  try {
    const std::string kind = directive_parameters(request.parameters).text("IO", "file");
    const format* const chosen = find_format(kind);
    if (chosen == nullptr || chosen->read == nullptr) {
      throw user_error(fmt::format("Requested input type <{}> is not supported.{}", kind,
                                   meant_format(kind, [](const format& one) { return one.read != nullptr; })));
    }
    return chosen->read(request, symbols, allocate);
  } catch (const user_error& problem) {
    throw with_relation(problem, request);
  }
}

user_error with_relation(const user_error& problem, const read_request& request) {
  return user_error(fmt::format("Error loading {} data: {}", request.relation, problem.what()));
}

bool is_read_beside_others(const read_request& request) {
  const auto file = text_file_of(request.relation, request.parameters, request.fact_directory);
  std::error_code unknown;
  return file && request.structured.structures.empty() && std::filesystem::is_regular_file(*file, unknown);
}

void read_files(std::span<facts_file> files, storage::symbol_table& symbols) {
  if (files.size() > 1) return read_text_files(files, symbols);
  facts_file& file = files.front();
  file.begin = storage::seconds_now();
  try {
    file.rows = read_facts(file.request, symbols, file.allocate);
  } catch (...) {
    file.failure = std::current_exception();
  }
  file.seconds = storage::seconds_now() - file.begin;
}

}  // namespace gpulog::io
