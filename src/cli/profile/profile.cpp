#include "cli/profile/profile.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "cli/messages.hpp"
#include "cli/profile/page.hpp"
#include "cli/profile/record.hpp"
#include "cli/profile/tables.hpp"
#include "cli/profile/trace.hpp"
#include "cli/subcommands.hpp"
#include "gpulog/error.hpp"
#include "io/files/output_files.hpp"

namespace gpulog::cli {
namespace {

struct profile_arguments {
  std::vector<std::string> files;
  std::string page_file, trace_file;
  std::size_t most = 10;
};

int show(const profile_arguments& given) {
  const run_record record = read_record(given.files.front());
  if (given.files.size() == 2) {
    if (!given.page_file.empty() || !given.trace_file.empty())
      throw input_error("--html and --trace are for one record");
    fmt::print("{}", comparison_tables(record, read_record(given.files.back()), given.most));
    return 0;
  }
  if (!given.page_file.empty()) io::write_file(given.page_file, page_of(record));
  if (!given.trace_file.empty()) io::write_file(given.trace_file, trace_of(record));
  if (given.page_file.empty() && given.trace_file.empty()) fmt::print("{}", profile_tables(record, given.most));
  return 0;
}

}  // namespace

int show_profile(int count, char** texts) {
  profile_arguments given;
  CLI::App app("Shows the record of a run that -p wrote; with two records, compares them.", "gpulog profile");
  app.set_help_flag("-h,--help", "print this text");
  app.add_option("records", given.files, "one record, or two to compare")->required()->expected(1, 2);
  app.add_option("-n", given.most, "lines of each table (10 by default)")->type_name("N")->check(CLI::PositiveNumber);
  app.add_option("--html", given.page_file, "write a page for a browser")->type_name("FILE");
  app.add_option("--trace", given.trace_file, "write a trace for Perfetto")->type_name("FILE");
  if (!parse_options(app, count, texts)) return 0;
  try {
    return show(given);
  } catch (const nlohmann::ordered_json::exception& fault) {
    throw input_error(fmt::format("{} is no record of a run: {}", fmt::join(given.files, " or "), fault.what()));
  }
}

}  // namespace gpulog::cli
