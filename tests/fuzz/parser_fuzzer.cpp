#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "support/diagnostics.hpp"
#include "syntax/parser.hpp"
#include "syntax/printer.hpp"

/// Any text has to be parsed or rejected with diagnostics; what parses has to survive printing and parsing again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gpulog;
  source_manager sources;
  diagnostics report;
  syntax::parse_options options;
  options.allow_include = false;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const syntax::program first = syntax::parse(sources.add("fuzz.dl", text), sources, report, options);
  (void)report.to_string();
  if (report.has_errors()) return 0;

  const std::string printed = syntax::print(first);
  diagnostics second_report;
  const syntax::program second = syntax::parse(sources.add("printed.dl", printed), sources, second_report, options);
  if (second_report.has_errors() || !(first == second)) {
    std::fprintf(stderr, "printed as:\n%s\n%s", printed.c_str(), second_report.to_string().c_str());
    std::abort();
  }
  return 0;
}
