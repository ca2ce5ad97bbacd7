#include "lsp/features/outline.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "lsp/names/name_index.hpp"
#include "support/value_table.hpp"

namespace gpulog::lsp {

namespace {

constexpr std::size_t longest_name = 80;

/// Returns the text in one line, shortened at the start of a character.
std::string shortened(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool is_blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!is_blank) {
      result += c;
    } else if (!result.empty() && result.back() != ' ') {
      result += ' ';
    }
    if (result.size() > longest_name + 4) break;
  }
  if (result.size() <= longest_name) return result;
  std::size_t end = longest_name;
  while (end > 0 && (static_cast<unsigned char>(result[end]) & 0xC0U) == 0x80U) --end;
  return result.substr(0, end) + "...";
}

class outline {
 public:
  explicit outline(const file_view& view) : view_(view) {}

  json items(const std::vector<syntax::item>& items) {
    json result = json::array();
    for (const syntax::item& item : items) {
      std::visit([&](const auto& node) { add(node, result); }, item.value);
    }
    return result;
  }

 private:
  /// @param name the selected part of `whole`
  json symbol(std::string text, const std::string& detail, symbol_kind kind, const source_span& whole,
              const source_span& name) const {
    // The protocol requires that the range contains the name, which a macro may place elsewhere.
    const source_span selected = name.begin >= whole.begin && name.end <= whole.end ? name : whole;
    return {{"name", text.empty() ? "?" : std::move(text)},
            {"detail", detail},
            {"kind", static_cast<int>(kind)},
            {"range", view_.range(whole)},
            {"selectionRange", view_.range(selected)}};
  }

  [[nodiscard]] json fields(const std::vector<syntax::attribute>& attributes) const {
    json result = json::array();
    for (const syntax::attribute& each : attributes) {
      if (!view_.has(each.span)) continue;
      result.push_back(symbol(each.name.text, each.type.text, symbol_kind::field, each.span, each.name.span));
    }
    return result;
  }

  [[nodiscard]] std::string text_of(const source_span& span) const {
    return shortened(span.file->text().substr(span.begin, span.end - span.begin));
  }

  void add(const syntax::relation_declaration& node, json& out) const {
    if (!view_.has(node.span)) return;
    for (const syntax::identifier& name : node.names) {
      std::string detail;
      for (const syntax::attribute& each : node.attributes) {
        detail += (detail.empty() ? "" : ", ") + each.name.text + ":" + each.type.text;
      }
      json made = symbol(name.text, "(" + shortened(detail) + ")", symbol_kind::class_, node.span, name.span);
      made["children"] = fields(node.attributes);
      out.push_back(std::move(made));
    }
  }

  void add(const syntax::type_declaration& node, json& out) const {
    if (!view_.has(node.span)) return;
    const auto* record = std::get_if<syntax::record_definition>(&node.definition);
    const auto* adt = std::get_if<syntax::adt_definition>(&node.definition);
    const symbol_kind kind = record != nullptr ? symbol_kind::struct_
                             : adt != nullptr  ? symbol_kind::enum_
                                               : symbol_kind::type_parameter;
    json made = symbol(node.name.text, "", kind, node.span, node.name.span);
    if (record != nullptr) made["children"] = fields(record->fields);
    if (adt != nullptr) {
      json& branches = made["children"] = json::array();
      for (const syntax::branch_definition& each : adt->branches) {
        if (!view_.has(each.span)) continue;
        json branch = symbol(each.name.text, "", symbol_kind::enum_member, each.span, each.name.span);
        branch["children"] = fields(each.fields);
        branches.push_back(std::move(branch));
      }
    }
    out.push_back(std::move(made));
  }

  void add(const syntax::functor_declaration& node, json& out) const {
    add_leaf(node.span, node.name, "functor", symbol_kind::function, out);
  }
  void add(const syntax::lattice_declaration& node, json& out) const {
    add_leaf(node.span, node.name, "lattice", symbol_kind::type_parameter, out);
  }
  void add(const syntax::component_instance& node, json& out) const {
    add_leaf(node.span, node.name, text_of(node.type.span), symbol_kind::object, out);
  }
  void add_leaf(const source_span& span, const syntax::identifier& name, const std::string& detail, symbol_kind kind,
                json& out) const {
    if (view_.has(span)) out.push_back(symbol(name.text, detail, kind, span, name.span));
  }

  void add(const syntax::component& node, json& out) {
    if (!view_.has(node.span)) {
      // A file that is included inside the component.
      for (json& each : items(node.items)) out.push_back(std::move(each));
      return;
    }
    json made = symbol(node.type.name.text, "component", symbol_kind::module, node.span, node.type.name.span);
    made["children"] = items(node.items);
    out.push_back(std::move(made));
  }

  void add(const syntax::clause& node, json& out) const {
    if (!view_.has(node.span) || node.body.empty()) return;  // facts are data
    const syntax::atom& head = node.heads.front();
    out.push_back(symbol(text_of(head.span), "rule", symbol_kind::method, node.span, head.name.span));
  }
  void add(const syntax::subsumption& node, json& out) const {
    if (!view_.has(node.span)) return;
    out.push_back(symbol(text_of(join(node.dominated.span, node.dominating.span)), "subsumption", symbol_kind::method,
                         node.span, node.dominated.name.span));
  }

  void add(const syntax::directive& /*node*/, json& /*out*/) const {}
  void add(const syntax::pragma& /*node*/, json& /*out*/) const {}
  void add(const syntax::override_declaration& /*node*/, json& /*out*/) const {}

  const file_view& view_;
};

std::optional<symbol_kind> kind_of(name_kind kind) {
  static constexpr entry<name_kind, symbol_kind> table[] = {
      {name_kind::relation, symbol_kind::class_},    {name_kind::type, symbol_kind::type_parameter},
      {name_kind::branch, symbol_kind::enum_member}, {name_kind::functor, symbol_kind::function},
      {name_kind::component, symbol_kind::module},   {name_kind::instance, symbol_kind::object}};
  return find_in(table, kind);
}

std::string lower_case(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

}  // namespace

json document_symbols(const file_view& view) { return outline(view).items(view.program.tree.items); }

json workspace_symbols(const workspace& all, const std::map<std::string, const compiled_program*>& programs,
                       const std::string& query) {
  constexpr std::size_t most_symbols = 1000;
  json result = json::array();
  const std::string wanted = lower_case(query);
  for (const auto& [main_file, program] : programs) {
    for (const named_symbol& symbol : program->names().symbols()) {
      const auto kind = kind_of(symbol.kind);
      if (!kind || lower_case(symbol.name).find(wanted) == std::string::npos) continue;
      json found = {{"name", symbol.name},
                    {"kind", static_cast<int>(*kind)},
                    {"location", location_of(all, *program, symbol.declared)}};
      if (!symbol.owner.empty()) found["containerName"] = symbol.owner;
      const bool is_new = programs.size() == 1 || std::find(result.begin(), result.end(), found) == result.end();
      if (is_new) result.push_back(std::move(found));
      if (result.size() == most_symbols) return result;
    }
  }
  return result;
}

}  // namespace gpulog::lsp
