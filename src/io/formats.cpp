#include "io/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "io/files/compression.hpp"
#include "io/formats/arrow/arrow_reader.hpp"
#include "io/formats/arrow/arrow_writer.hpp"
#include "io/formats/json/json_reader.hpp"
#include "io/formats/json/json_writer.hpp"
#include "io/formats/sqlite/sqlite_name.hpp"
#include "io/formats/sqlite/sqlite_reader.hpp"
#include "io/formats/sqlite/sqlite_writer.hpp"
#include "io/formats/text/text_reader.hpp"
#include "io/formats/text/text_writer.hpp"
#include "support/error.hpp"
#include "support/suggestion.hpp"

namespace gpulog::io {
namespace {

void print_size(const relation_rows& rows, const write_request& /*request*/, const storage::symbol_table& /*symbols*/,
                output_files& /*files*/) {
  print_relation_size(rows.relation, rows.rows);
}

constexpr format all_formats[] = {
    {"file", read_text_file, write_text_file, false, ".csv", false, check_text},
    {"stdin", read_text_from_standard_input, nullptr},
    {"stdout", nullptr, print_as_text, true, {}, false, check_text},
    {"stdoutprintsize", nullptr, print_size, true},
    {"jsonfile", read_json_file, write_json_file, false, ".json"},
    {"json", read_json_from_standard_input, print_as_json, true},
    {"sqlite", read_sqlite, write_sqlite, false, ".sqlite", true, check_sqlite},
    {"parquet", read_arrow<arrow_format::parquet>, write_arrow<arrow_format::parquet>, false, ".parquet", false,
     check_arrow},
    {"arrow", read_arrow<arrow_format::arrow>, write_arrow<arrow_format::arrow>, false, ".arrow", false, check_arrow},
};

}  // namespace

std::span<const format> formats() { return all_formats; }

const format* find_format(std::string_view name) {
  const auto* const found = std::find_if(std::begin(all_formats), std::end(all_formats),
                                         [name](const format& one) { return one.name == name; });
  return found == std::end(all_formats) ? nullptr : found;
}

std::string meant_format(std::string_view name, bool (*is_usable)(const format& one)) {
  std::vector<std::string> names;
  for (const format& one : all_formats) {
    if (is_usable(one)) names.emplace_back(one.name);
  }
  const auto meant = closest_name(name, names);
  return meant ? fmt::format(" Did you mean '{}'?", *meant) : "";
}

std::string output_name(const std::string& relation, const directive_parameters& parameters) {
  const std::string kind = parameters.text("IO", "file");
  const format* const chosen = find_format(kind);
  ensure(chosen != nullptr && !chosen->extension.empty(), "a format of files");
  const compression how = kind == "file" ? output_compression(parameters) : compression::none;
  const std::string usual = fmt::format("{}{}{}", relation, chosen->extension, extension_of(how));
  const bool is_database = kind == "sqlite";
  std::string name = parameters.text("filename", is_database ? parameters.text("dbname", usual) : usual);
  // Without a file, a database could not appear together with the other outputs, and a database in memory not at all.
  if (is_database && is_sqlite_uri(name)) {
    throw user_error(fmt::format("{} is a URI or a database in memory, and an output is a file", name));
  }
  return name;
}

}  // namespace gpulog::io
