#pragma once

#include <optional>
#include <set>
#include <string>

#include "sema/analysis.hpp"
#include "support/diagnostics.hpp"
#include "support/source.hpp"
#include "syntax/parser.hpp"

namespace gpulog {

/// A program text after parser and analysis. Spans stay valid during the lifetime of this object.
struct analysed_text {
  explicit analysed_text(std::string text, const syntax::parse_options& options = {}) {
    source_file& file = sources.add("test.dl", std::move(text));
    const syntax::program parsed = syntax::parse(file, sources, report, options);
    if (!report.has_errors()) program = sema::analyse(parsed, report);
  }

  [[nodiscard]] bool accepted() const { return program.has_value(); }

  /// Returns the lines of all errors and their notes.
  [[nodiscard]] std::set<std::uint32_t> error_lines() const {
    std::set<std::uint32_t> lines;
    const auto add = [&](const source_span& span) {
      if (span.valid()) lines.insert(span.file->position(span.begin).line);
    };
    for (const auto* remark : report.sorted()) {
      if (remark->level != severity::error) continue;
      add(remark->span);
      for (const auto& note : remark->notes) add(note.span);
    }
    return lines;
  }

  [[nodiscard]] relation_id relation(const std::string& name) const { return program->find_relation(name).value(); }

  source_manager sources;
  diagnostics report;
  std::optional<sema::program> program;
};

inline bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace gpulog
