#include "cli/format/format_command.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/format/unified_diff.hpp"
#include "cli/messages.hpp"
#include "cli/standard_input.hpp"
#include "cli/subcommands.hpp"
#include "gpulog/error.hpp"
#include "io/files/output_files.hpp"
#include "support/deep_stack.hpp"
#include "syntax/format/format.hpp"

namespace gpulog::cli {
namespace {

struct format_arguments {
  std::vector<std::string> files;
  std::string lines;
  bool check = false, diff = false;
  syntax::parse_options parsing;
  syntax::line_range range;
};

/// Parses "FIRST:LAST".
syntax::line_range lines_from_text(const std::string& text) {
  syntax::line_range result;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, result.first);
  const bool has_last = first.ec == std::errc() && first.ptr != end && *first.ptr == ':';
  const auto last = std::from_chars(has_last ? first.ptr + 1 : end, end, result.last);
  if (!has_last || last.ec != std::errc() || last.ptr != end || result.first == 0 || result.first > result.last)
    throw input_error(fmt::format("--lines has to be FIRST:LAST, as 10:20, not '{}'", text));
  return result;
}

void write_result(const format_arguments& given, const source_file& file, bool is_standard_input,
                  const std::vector<syntax::text_edit>& edits) {
  if (given.diff) {
    fmt::print("{}", unified_diff(file.path(), file.text(), edits));
  } else if (given.check) {
    if (!edits.empty()) fmt::print("{}\n", file.path());
  } else if (is_standard_input) {
    fmt::print("{}", syntax::apply_edits(file.text(), edits));
  } else if (!edits.empty()) {
    io::write_file(file.path(), syntax::apply_edits(file.text(), edits));
  }
}

/// Returns the exit status for one file.
int format_file(const format_arguments& given, const std::string& name) {
  const bool is_standard_input = name == standard_input_name;
  source_manager sources;
  source_file& file = is_standard_input ? sources.add("stdin", standard_input()) : sources.load(name);
  diagnostics report;
  const std::vector<syntax::text_edit> edits =
      syntax::format_program(file, sources, report, given.parsing, given.range);
  if (report.has_errors()) {
    print_remarks(report.to_public(), report.to_string());
    return 1;
  }
  write_result(given, file, is_standard_input, edits);
  return (given.check || given.diff) && !edits.empty() ? 1 : 0;
}

}  // namespace

int format_programs(int count, char** texts) {
  format_arguments given;
  CLI::App app("Formats programs; their meaning stays the same.", "gpulog fmt");
  app.set_help_flag("-h,--help", "print this text");
  app.add_option("files", given.files, "programs (.dl); - formats standard input to standard output")->required();
  app.add_flag("--check", given.check, "print the names of files that would change, and change no file");
  app.add_flag("--diff", given.diff, "print the changes as a unified diff, and change no file");
  app.add_option("--lines", given.lines, "format only these lines, as 10:20")->type_name("FIRST:LAST");
  app.add_option("-I,--include-dir", given.parsing.include_directories, "folder that #include searches (repeatable)")
      ->type_name("DIR")
      ->allow_extra_args(false);
  app.add_option("-M,--macro", given.parsing.macros, "a macro, as A or B=1 (repeatable)")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  if (!parse_options(app, count, texts)) return 0;
  if (!given.lines.empty()) given.range = lines_from_text(given.lines);
  given.parsing.warnings = false;
  given.parsing.deepest = syntax::deepest_nesting;
  int status = 0;
  const auto format_all = [&] {
    for (const std::string& name : given.files) status = std::max(status, format_file(given, name));
  };
  if (!on_deep_stack(format_all)) {
    given.parsing.deepest = syntax::max_nesting_depth;
    format_all();
  }
  return status;
}

}  // namespace gpulog::cli
