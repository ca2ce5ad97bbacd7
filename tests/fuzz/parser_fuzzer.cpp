#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "support/diagnostics.hpp"
#include "syntax/format/format.hpp"
#include "syntax/parser.hpp"
#include "syntax/printer.hpp"

namespace {

using namespace gpulog;

/// Formatting a valid program keeps the syntax tree, and formatting again changes nothing.
void check_format(const std::string& text, const syntax::parse_options& options) {
  source_manager sources;
  diagnostics report;
  const auto edits = syntax::format_program(sources.add("fuzz.dl", text), sources, report, options);
  const std::string formatted = syntax::apply_edits(text, edits);
  if (!report.has_errors() && syntax::format_edits(sources.add("formatted.dl", formatted)).empty()) return;
  std::fprintf(stderr, "formatted as:\n%s\n%s", formatted.c_str(), report.to_string().c_str());
  std::abort();
}

}  // namespace

/// Any text has to be parsed or rejected with diagnostics; what parses has to survive printing and parsing again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  source_manager sources;
  diagnostics report;
  syntax::parse_options options;
  options.allow_include = false;
  const std::string text(reinterpret_cast<const char*>(data), size);
  source_file& file = sources.add("fuzz.dl", text);
  const syntax::program first = syntax::parse(file, sources, report, options);
  (void)report.to_string();
  (void)syntax::format_edits(file);
  if (report.has_errors()) return 0;

  const std::string printed = syntax::print(first);
  diagnostics second_report;
  const syntax::program second = syntax::parse(sources.add("printed.dl", printed), sources, second_report, options);
  if (second_report.has_errors() || !(first == second)) {
    std::fprintf(stderr, "printed as:\n%s\n%s", printed.c_str(), second_report.to_string().c_str());
    std::abort();
  }
  // Values of __LINE__ and texts of macros may depend on line ends and blanks.
  const bool has_macros = text.find('#') != std::string::npos || text.find("__") != std::string::npos;
  if (!has_macros) check_format(text, options);
  return 0;
}
