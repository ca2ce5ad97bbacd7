#pragma once

#include <cstddef>

#include "lsp/protocol/json.hpp"
#include "lsp/record/run_figures.hpp"
#include "lsp/workspace/compiled_program.hpp"
#include "lsp/workspace/workspace.hpp"
#include "support/source.hpp"

namespace gpulog::lsp {

/// A file of a program, as a request about a document sees it.
struct file_view {
  const workspace& all;
  const compiled_program& program;
  const source_file& file;
  const text_index& index;
  const run_figures* figures = nullptr;  ///< of the newest run, if any

  /// Returns whether the span is a part of this file. Of a file that is included twice, the first inclusion counts.
  [[nodiscard]] bool has(const source_span& span) const { return span.file == &file; }
  [[nodiscard]] json range(std::size_t begin, std::size_t end) const { return range_of(index, begin, end); }
  [[nodiscard]] json range(const source_span& span) const { return range(span.begin, span.end); }
};

/// Returns the range of a span in its own file.
[[nodiscard]] inline json range_of(const compiled_program& program, const source_span& span) {
  return range_of(program.index(*span.file), span.begin, span.end);
}

/// Returns `{uri, range}`.
[[nodiscard]] inline json location_of(const workspace& all, const compiled_program& program, const source_span& span) {
  return {{"uri", all.uri_of_file(*span.file)}, {"range", range_of(program, span)}};
}

}  // namespace gpulog::lsp
