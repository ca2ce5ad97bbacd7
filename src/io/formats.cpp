#include "io/formats.hpp"

#include <algorithm>

#include "io/formats/arrow/arrow_reader.hpp"
#include "io/formats/arrow/arrow_writer.hpp"
#include "io/formats/json/json_reader.hpp"
#include "io/formats/json/json_writer.hpp"
#include "io/formats/sqlite/sqlite_reader.hpp"
#include "io/formats/sqlite/sqlite_writer.hpp"
#include "io/formats/text/text_reader.hpp"
#include "io/formats/text/text_writer.hpp"

namespace gpulog::io {
namespace {

void print_size(const relation_rows& rows, const write_request& /*request*/, const storage::symbol_table& /*symbols*/,
                output_files& /*files*/) {
  print_relation_size(rows.relation, rows.rows);
}

constexpr format all_formats[] = {
    {"file", read_text_file, write_text_file},
    {"stdin", read_text_from_standard_input, nullptr},
    {"stdout", nullptr, print_as_text, true},
    {"stdoutprintsize", nullptr, print_size, true},
    {"jsonfile", read_json_file, write_json_file},
    {"json", read_json_from_standard_input, print_as_json, true},
    {"sqlite", read_sqlite, write_sqlite},
    {"parquet", read_arrow<arrow_format::parquet>, write_arrow<arrow_format::parquet>},
    {"arrow", read_arrow<arrow_format::arrow>, write_arrow<arrow_format::arrow>},
};

}  // namespace

std::span<const format> formats() { return all_formats; }

const format* find_format(std::string_view name) {
  const auto* const found = std::find_if(std::begin(all_formats), std::end(all_formats),
                                         [name](const format& one) { return one.name == name; });
  return found == std::end(all_formats) ? nullptr : found;
}

}  // namespace gpulog::io
