#include "lsp/features/completion.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "lsp/features/cursor.hpp"
#include "lsp/features/descriptions.hpp"
#include "sema/checks/known_names.hpp"
#include "syntax/lexer.hpp"

namespace gpulog::lsp {

namespace {

using syntax::token_kind;

/// Kinds of completions, by the numbers of the protocol.
enum class completion_kind : int {
  function = 3,
  field = 5,
  variable = 6,
  class_ = 7,
  module = 9,
  property = 10,
  value = 12,
  enum_member = 20,
  keyword = 14,
  type_parameter = 25,
};

class completer {
 public:
  completer(const file_view& view, std::size_t offset, bool with_snippets)
      : view_(view), names_(view.program.names()), cursor_(view, offset), offset_(offset), snippets_(with_snippets) {}

  json run() {
    if (cursor_.is_in_text()) return std::move(items_);
    if (cursor_.byte_before() == '$') {
      symbols(name_kind::branch);
    } else if (cursor_.byte_before() == '@') {
      symbols(name_kind::functor);
    } else if (cursor_.byte_before() == '.') {
      after_dot();
    } else if (cursor_.item_begin() == cursor_.before()) {
      relations();
    } else if (syntax::is_directive(cursor_.kind(cursor_.item_begin()))) {
      in_declaration(cursor_.kind(cursor_.item_begin()));
    } else {
      in_clause();
    }
    return std::move(items_);
  }

 private:
  [[nodiscard]] token_kind last_kind() const { return cursor_.kind(cursor_.before() - 1); }
  [[nodiscard]] bool has_before(token_kind kind) const {
    for (std::size_t token = cursor_.item_begin(); token < cursor_.before(); ++token) {
      if (cursor_.kind(token) == kind) return true;
    }
    return false;
  }

  void add(const std::string& label, completion_kind kind, const std::string& detail = "") {
    if (!labels_.insert(label).second) return;
    json item = {{"label", label}, {"kind", static_cast<int>(kind)}};
    if (!detail.empty()) item["detail"] = detail;
    items_.push_back(std::move(item));
  }
  void add_words(std::initializer_list<const char*> words) {
    for (const char* word : words) add(word, completion_kind::keyword);
  }

  /// Adds something that takes arguments, with a placeholder for each if the editor accepts placeholders.
  void add_call(const std::string& name, completion_kind kind, const std::vector<syntax::attribute>& attributes,
                bool with_arguments) {
    if (labels_.contains(name)) return;
    add(name, kind, signature_of("", attributes).label);
    if (!snippets_ || !with_arguments) return;
    constexpr int format_snippet = 2;
    std::string text = name + "(";
    for (std::size_t at = 0; at < attributes.size(); ++at) {
      const std::string& argument =
          attributes[at].name.text.empty() ? attributes[at].type.text : attributes[at].name.text;
      text += (at == 0 ? "${" : ", ${") + std::to_string(at + 1) + ":" + argument + "}";
    }
    items_.back()["insertText"] = text + ")";
    items_.back()["insertTextFormat"] = format_snippet;
  }

  void symbols(name_kind kind) {
    for (const named_symbol& symbol : names_.symbols()) {
      if (symbol.kind != kind || (!symbol.owner.empty() && kind != name_kind::branch)) continue;
      if (kind == name_kind::branch) add_call(symbol.name, completion_kind::enum_member, *symbol.attributes, true);
      if (kind == name_kind::functor) add_call(symbol.name, completion_kind::function, *symbol.attributes, true);
      if (kind == name_kind::type) add(symbol.name, completion_kind::type_parameter);
      if (kind == name_kind::component || kind == name_kind::instance) add(symbol.name, completion_kind::module);
    }
  }

  /// @param with_arguments whether arguments follow the name
  void relations(bool with_arguments = true) {
    const std::string component = component_around();
    for (const named_symbol& symbol : names_.symbols()) {
      const bool is_near = symbol.owner.empty() || symbol.owner == component;
      if (symbol.kind == name_kind::relation && is_near)
        add_call(symbol.name, completion_kind::class_, *symbol.attributes, with_arguments);
    }
    symbols(name_kind::instance);
  }

  /// Returns the name of the component that contains the offset.
  [[nodiscard]] std::string component_around() const {
    std::string name;
    for (const named_symbol& symbol : names_.symbols()) {
      if (symbol.kind == name_kind::component && view_.has(symbol.whole) && symbol.whole.begin < offset_ &&
          offset_ < symbol.whole.end)
        name = symbol.name;
    }
    return name;
  }

  void types() {
    add_words({"number", "unsigned", "float", "symbol"});
    symbols(name_kind::type);
    for (const named_symbol& symbol : names_.symbols()) {
      if (symbol.kind == name_kind::type_parameter && view_.has(symbol.whole))
        add(symbol.name, completion_kind::type_parameter);
    }
  }

  void after_dot() {
    if (cursor_.is_directive()) {
      for (const std::string_view name : syntax::directive_names()) add(std::string(name), completion_kind::keyword);
      return;
    }
    for (const named_symbol* member : names_.members_of(cursor_.qualifier()))
      add_call(member->name, completion_kind::class_, *member->attributes, true);
  }

  void in_declaration(token_kind directive) {
    switch (directive) {
      case token_kind::directive_input:
      case token_kind::directive_output:
      case token_kind::directive_printsize:
      case token_kind::directive_limitsize:
        if (cursor_.open_brackets().empty()) return relations(false);
        return parameters();
      case token_kind::directive_override:
        return relations(false);
      case token_kind::directive_init:
        if (has_before(token_kind::equals)) symbols(name_kind::component);
        return;
      case token_kind::directive_comp:
        if (has_before(token_kind::colon)) symbols(name_kind::component);
        return;
      case token_kind::directive_decl:
        if (last_kind() == token_kind::colon) return types();
        if (last_kind() == token_kind::right_parenthesis || syntax::is_word(last_kind()))
          add_words({"brie", "btree", "btree_delete", "choice-domain", "eqrel", "inline", "magic", "no_inline",
                     "no_magic", "overridable"});
        return;
      case token_kind::directive_type:
      case token_kind::directive_functor:
        if (is_type_next()) types();
        return;
      default:
        return;
    }
  }

  [[nodiscard]] bool is_type_next() const {
    switch (last_kind()) {
      case token_kind::colon:
      case token_kind::subtype:
      case token_kind::equals:
      case token_kind::pipe:
        return true;
      default:
        return cursor_.kind(cursor_.item_begin()) == token_kind::directive_functor &&
               (last_kind() == token_kind::left_parenthesis || last_kind() == token_kind::comma);
    }
  }

  void parameters() {
    if (last_kind() != token_kind::equals) {
      for (const std::string& name : sema::known_parameters()) add(name, completion_kind::property);
      return;
    }
    const std::string_view parameter = cursor_.text(cursor_.before() - 2);
    if (parameter == "IO") add_words({"file", "stdin", "stdout", "json", "sqlite", "parquet", "arrow"});
    for (const std::string_view value : sema::known_values(parameter)) add(std::string(value), completion_kind::value);
  }

  void in_clause() {
    const std::vector<text_cursor::bracket> open = cursor_.open_brackets();
    const token_kind innermost = open.empty() ? token_kind::end_of_file : cursor_.kind(open.back().token);
    const std::string name = open.empty() ? "" : cursor_.name_before(open.back());
    const bool is_argument = innermost == token_kind::left_bracket || !name.empty();
    if (is_argument) {
      attribute_of(name, open.back().commas);
    } else if (open.empty() && !has_before(token_kind::if_)) {
      return relations();
    }
    variables();
    if (!is_argument) {
      relations();
      add_words({"contains", "match", "true", "false"});
    }
    for (const std::string& functor : syntax::functor_names())
      add(functor, completion_kind::function, signature_of(view_.program, functor)->label);
    add_words({"as", "autoinc", "count", "mean", "nil", "sum"});
  }

  /// Adds the name of the attribute at this position as a variable.
  void attribute_of(const std::string& name, std::size_t position) {
    const named_symbol* const symbol =
        name.starts_with('$') ? names_.find_symbol(name_kind::branch, name.substr(1)) : names_.find_relation(name);
    if (symbol == nullptr || symbol->attributes == nullptr || position >= symbol->attributes->size()) return;
    const syntax::attribute& attribute = (*symbol->attributes)[position];
    add(attribute.name.text, completion_kind::field, attribute.name.text + ":" + attribute.type.text);
    items_.back()["sortText"] = "0";
  }

  void variables() {
    for (std::size_t token = cursor_.item_begin(); token < cursor_.item_end(); ++token) {
      if (cursor_.kind(token) != token_kind::identifier ||
          cursor_.pieces().tokens[token].begin == cursor_.prefix_begin())
        continue;
      const token_kind next = cursor_.kind(token + 1);
      const token_kind previous = token == 0 ? token_kind::end_of_file : cursor_.kind(token - 1);
      const bool is_name = next == token_kind::left_parenthesis || previous == token_kind::dollar ||
                           previous == token_kind::at || previous == token_kind::dot || next == token_kind::dot;
      if (!is_name) add(std::string(cursor_.text(token)), completion_kind::variable);
    }
  }

  const file_view& view_;
  const name_index& names_;
  text_cursor cursor_;
  std::size_t offset_;
  bool snippets_;
  json items_ = json::array();
  std::set<std::string> labels_;
};

}  // namespace

json completions_at(const file_view& view, std::size_t offset, bool with_snippets) {
  return completer(view, offset, with_snippets).run();
}

json signature_help_at(const file_view& view, std::size_t offset) {
  const text_cursor cursor(view, offset);
  const std::vector<text_cursor::bracket> open = cursor.open_brackets();
  if (cursor.is_in_text() || cursor.item_begin() == cursor.before()) return nullptr;
  if (syntax::is_directive(cursor.kind(cursor.item_begin()))) return nullptr;
  for (auto bracket = open.rbegin(); bracket != open.rend(); ++bracket) {
    const std::string name = cursor.name_before(*bracket);
    const auto signature = name.empty() ? std::nullopt : signature_of(view.program, name);
    if (!signature) continue;
    json parameters = json::array();
    for (const std::string& each : signature->parameters) parameters.push_back({{"label", each}});
    json shown = {{"label", signature->label}, {"parameters", std::move(parameters)}};
    const std::size_t last = signature->parameters.empty() ? 0 : signature->parameters.size() - 1;
    const bool is_open = !signature->parameters.empty() && signature->parameters.back() == "...";
    return {{"signatures", json::array({std::move(shown)})},
            {"activeSignature", 0},
            {"activeParameter", is_open ? std::min(bracket->commas, last) : bracket->commas}};
  }
  return nullptr;
}

}  // namespace gpulog::lsp
