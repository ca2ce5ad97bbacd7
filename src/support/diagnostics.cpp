#include "support/diagnostics.hpp"

#include <algorithm>
#include <ostream>
#include <tuple>
#include <utility>

namespace gpulog {

namespace {

/// A longer line is cut around the error's column: thousands of messages about such a line would take gigabytes.
constexpr std::size_t longest_line = 4096;

void append_place(std::string& out, const source_span& span) {
  const source_position position = span.file->position(span.begin);
  std::string_view line = span.file->line_text(span.begin);
  std::size_t place = std::min<std::size_t>(position.column - 1, line.size());
  if (line.size() > longest_line) {
    const std::size_t left_out = place - std::min(place, longest_line / 2);
    line = line.substr(left_out, longest_line);
    place -= left_out;
  }
  out += " in file ";
  out += base_name(position.path);
  out += " at line " + std::to_string(position.line) + "\n";
  out += line;
  out += '\n';
  // One character longer than the line, so that the caret can mark the end of the line.
  std::string marks(line.size() + 1, '-');
  marks[place] = '^';
  out += marks;
}

void append_line(std::string& out, const source_span& span, const std::string& message) {
  out += message;
  if (span.valid()) append_place(out, span);
  out += '\n';
}

template <class Remark>
void set_place(Remark& shown, const source_span& span) {
  if (!span.valid()) return;
  const source_position position = span.file->position(span.begin);
  shown.file = position.path;
  shown.line = position.line;
  shown.column = position.column;
}

bool same_text(const diagnostics::entry& left, const diagnostics::entry& right) {
  return left.level == right.level && left.span == right.span && left.message == right.message;
}

}  // namespace

namespace {

constexpr std::pair<std::string_view, warning_kind> named_warnings[] = {
    {"deprecated-type-decl", warning_kind::deprecated_type_declaration},
    {"deprecated-qualifier", warning_kind::deprecated_qualifier},
    {"dollar-sign", warning_kind::dollar_sign},
    {"no-rules-nor-facts", warning_kind::no_rules_nor_facts},
    {"no-subsumptive-rule", warning_kind::no_subsumptive_rule},
    {"var-appears-once", warning_kind::variable_appears_once},
    {"useless-doc-comment", warning_kind::useless_doc_comment},
    {"useless-annotation", warning_kind::useless_annotation},
    {"unknown-parameter", warning_kind::unknown_parameter},
    {"unknown-pragma", warning_kind::unknown_pragma},
    {"no-output", warning_kind::no_output},
    {"unread-relation", warning_kind::unread_relation},
    {"never-fires", warning_kind::never_fires},
    {"cross-product", warning_kind::cross_product},
    {"repeated-rule", warning_kind::repeated_rule},
    {"portable", warning_kind::portable},
};

}  // namespace

std::optional<warning_kind> warning_from_name(std::string_view name) {
  for (const auto& [known, kind] : named_warnings) {
    if (known == name) return kind;
  }
  return std::nullopt;
}

std::vector<std::string> warning_names() {
  std::vector<std::string> names;
  for (const auto& [name, kind] : named_warnings) names.emplace_back(name);
  return names;
}

diagnostics::entry& diagnostics::entry::note(const source_span& where, std::string text) {
  notes.push_back({where, std::move(text)});
  return *this;
}

diagnostics::entry& diagnostics::entry::suggest(std::string_view wrong, const std::optional<std::string>& name) {
  if (!name) return *this;
  message += ", did you mean '" + *name + "'?";
  const std::string_view text = span.valid() ? span.file->text().substr(span.begin, span.end - span.begin) : "";
  const std::size_t at = text.find(wrong);
  if (at == std::string_view::npos) return *this;
  const auto begin = static_cast<std::uint32_t>(span.begin + at);
  fixes.push_back({{span.file, begin, static_cast<std::uint32_t>(begin + wrong.size())}, *name});
  return *this;
}

diagnostics::entry& diagnostics::error(const source_span& where, std::string message) {
  ++errors_;
  return remarks_.emplace_back(entry{severity::error, where, std::move(message), {}, {}});
}

diagnostics::entry& diagnostics::error_at_end(const source_span& where, std::string message) {
  is_cut_off_ = is_cut_off_ || errors_ == 0;
  return error(where, std::move(message));
}

diagnostics::entry* diagnostics::warning(const source_span& where, std::string message, warning_kind kind) {
  if (!wants(kind)) return nullptr;
  return &remarks_.emplace_back(entry{severity::warning, where, std::move(message), {}, {}});
}

std::vector<const diagnostics::entry*> diagnostics::sorted() const {
  std::vector<const entry*> result;
  for (const entry& remark : remarks_) result.push_back(&remark);
  std::stable_sort(result.begin(), result.end(), [](const entry* left, const entry* right) {
    if (comes_before(left->span, right->span)) return true;
    if (comes_before(right->span, left->span)) return false;
    return left->level < right->level;
  });
  const auto last = std::unique(result.begin(), result.end(),
                                [](const entry* left, const entry* right) { return same_text(*left, *right); });
  result.erase(last, result.end());
  return result;
}

std::vector<diagnostic> diagnostics::to_public() const {
  std::vector<diagnostic> result;
  for (const entry* remark : sorted()) {
    diagnostic& shown = result.emplace_back();
    shown.level = remark->level;
    shown.message = remark->message;
    shown.text = gpulog::to_string(*remark);
    set_place(shown, remark->span);
    for (const attached_note& note : remark->notes) {
      diagnostic_note& shown_note = shown.notes.emplace_back();
      shown_note.message = note.message;
      set_place(shown_note, note.span);
    }
  }
  return result;
}

std::string diagnostics::to_string() const {
  std::string out;
  std::size_t errors = 0;
  for (const entry* remark : sorted()) {
    out += gpulog::to_string(*remark);
    if (remark->level == severity::error) ++errors;
  }
  if (errors > 0) out += std::to_string(errors) + " errors generated, evaluation aborted\n";
  return out;
}

void diagnostics::print(std::ostream& out) const { out << to_string(); }

std::string to_string(const diagnostics::entry& remark) {
  std::string out = remark.level == severity::error ? "Error: " : "Warning: ";
  append_line(out, remark.span, remark.message);
  for (const diagnostics::attached_note& note : remark.notes) append_line(out, note.span, note.message);
  return out;
}

}  // namespace gpulog
