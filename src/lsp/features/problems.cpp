#include "lsp/features/problems.hpp"

#include <algorithm>

namespace gpulog::lsp {

namespace {

constexpr int severity_error = 1;
constexpr int severity_warning = 2;

/// A message without a place concerns the start of the main file.
source_span place_of(const compiled_program& program, const diagnostics::entry& entry) {
  return entry.span.valid() ? entry.span : source_span{program.main, 0, 0};
}

}  // namespace

json diagnostic_of(const workspace& all, const compiled_program& program, const diagnostics::entry& entry) {
  std::string message = entry.message;
  json related = json::array();
  for (const diagnostics::attached_note& note : entry.notes) {
    if (note.span.valid()) {
      related.push_back({{"location", location_of(all, program, note.span)}, {"message", note.message}});
    } else {
      message += "\n" + note.message;
    }
  }
  json result = {{"range", range_of(program, place_of(program, entry))},
                 {"severity", entry.level == severity::error ? severity_error : severity_warning},
                 {"source", "gpulog"},
                 {"message", std::move(message)}};
  if (!related.empty()) result["relatedInformation"] = std::move(related);
  return result;
}

namespace {

json fix_of(const file_view& view, const diagnostics::entry& entry, const diagnostics::fix& fix) {
  const std::string_view old = fix.span.file->text().substr(fix.span.begin, fix.span.end - fix.span.begin);
  const std::string title =
      old.empty() ? "Insert '" + fix.text + "'" : "Change '" + std::string(old) + "' to '" + fix.text + "'";
  const json edit = {{"range", range_of(view.program, fix.span)}, {"newText", fix.text}};
  return {{"title", title},
          {"kind", "quickfix"},
          {"isPreferred", entry.fixes.size() == 1},
          {"diagnostics", json::array({diagnostic_of(view.all, view.program, entry)})},
          {"edit", {{"changes", {{view.all.uri_of_file(*fix.span.file), json::array({edit})}}}}}};
}

}  // namespace

std::map<std::string, json> diagnostics_of(const workspace& all,
                                           const std::map<std::string, const compiled_program*>& programs) {
  std::map<std::string, json> result;
  for (const auto& [main_file, program] : programs) {
    for (const auto& file : program->sources.files()) result.try_emplace(all.uri_of_file(*file), json::array());
    if (program->main == nullptr) continue;
    std::map<std::string, json> own;
    for (const diagnostics::entry* entry : program->report.sorted()) {
      json& list = own[all.uri_of_file(*place_of(*program, *entry).file)];
      if (list.size() < most_diagnostics) list.push_back(diagnostic_of(all, *program, *entry));
    }
    for (auto& [uri, list] : own) {
      json& shown = result[uri];
      const bool is_first = shown.empty();
      for (json& diagnostic : list) {
        const bool is_new = is_first || std::find(shown.begin(), shown.end(), diagnostic) == shown.end();
        if (is_new && shown.size() < most_diagnostics) shown.push_back(std::move(diagnostic));
      }
    }
  }
  return result;
}

json quick_fixes(const file_view& view, std::size_t begin, std::size_t end) {
  json result = json::array();
  for (const diagnostics::entry* entry : view.program.report.sorted()) {
    if (!view.has(entry->span) || entry->span.begin > end || entry->span.end < begin) continue;
    for (const diagnostics::fix& fix : entry->fixes) result.push_back(fix_of(view, *entry, fix));
  }
  return result;
}

}  // namespace gpulog::lsp
