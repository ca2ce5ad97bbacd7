#include "lsp/features/formatting.hpp"

#include <algorithm>

#include "support/diagnostics.hpp"
#include "syntax/format/format.hpp"

namespace gpulog::lsp {

json formatting_edits(const workspace& all, const document& source, std::size_t begin, std::size_t end) {
  source_manager sources;
  source_file& file = sources.add(source.identity, source.text);
  syntax::parse_options options = parse_options_of(all.settings());
  options.warnings = false;
  diagnostics report;
  const auto line_of = [&file](std::size_t offset) { return file.physical_line(static_cast<std::uint32_t>(offset)); };
  // A selection of whole lines ends at the start of the next line.
  const std::size_t last = end > begin && end > 0 && source.text[end - 1] == '\n' ? end - 1 : end;
  const syntax::line_range lines = {line_of(begin), line_of(last)};
  const text_index index(file.text(), all.settings().encoding);
  json result = json::array();
  for (const syntax::text_edit& edit : syntax::format_program(file, sources, report, options, lines)) {
    result.push_back({{"range", range_of(index, edit.begin, edit.end)}, {"newText", edit.text}});
  }
  return result;
}

}  // namespace gpulog::lsp
