#include "lsp/features/text_structure.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <vector>

#include "lsp/names/name_index.hpp"

namespace gpulog::lsp {

namespace {

using syntax::token_kind;

/// Numbers of the types in the legend.
enum class token_type : std::uint32_t {
  keyword,
  comment,
  string,
  number,
  macro,
  relation,
  type,
  type_parameter,
  branch,
  function,
  component,
  variable,
  attribute,
};
constexpr const char* type_names[] = {"keyword",   "comment",  "string",        "number",     "macro",
                                      "class",     "type",     "typeParameter", "enumMember", "function",
                                      "namespace", "variable", "property"};
constexpr std::uint32_t modifier_declaration = 1;

token_type type_of(name_kind kind) {
  switch (kind) {
    case name_kind::relation:
      return token_type::relation;
    case name_kind::type:
      return token_type::type;
    case name_kind::type_parameter:
      return token_type::type_parameter;
    case name_kind::branch:
      return token_type::branch;
    case name_kind::functor:
      return token_type::function;
    case name_kind::component:
    case name_kind::instance:
      return token_type::component;
    case name_kind::attribute:
      return token_type::attribute;
    case name_kind::variable:
      break;
  }
  return token_type::variable;
}

std::optional<token_type> type_of(token_kind kind) {
  switch (kind) {
    case token_kind::string:
      return token_type::string;
    case token_kind::number:
    case token_kind::unsigned_number:
    case token_kind::floating:
      return token_type::number;
    default:
      if (syntax::is_word(kind) || syntax::is_directive(kind)) return token_type::keyword;
      return std::nullopt;
  }
}

struct coloured {
  std::size_t begin, end;
  token_type type;
  std::uint32_t modifiers = 0;
};

std::vector<coloured> coloured_parts(const file_view& view) {
  std::vector<coloured> parts;
  const syntax::format_pieces& pieces = view.program.tokens(view.file).pieces;
  for (const syntax::format_token& token : pieces.tokens) {
    if (const auto type = type_of(token.kind)) parts.push_back({token.begin, token.end, *type});
  }
  for (const syntax::format_comment& comment : pieces.comments) {
    const bool is_macro = comment.what == syntax::format_comment::kind::directive;
    parts.push_back({comment.begin, comment.end, is_macro ? token_type::macro : token_type::comment});
  }
  const name_index& names = view.program.names();
  for (const name_use& use : names.uses()) {
    if (!view.has(use.span)) continue;
    const token_type type = use.is_written ? type_of(names.symbols()[use.symbol].kind) : token_type::macro;
    const bool is_declaration = use.role == name_role::declaration;
    // The name of a macro is coloured, its arguments are not.
    std::size_t end = use.span.end;
    if (!use.is_written) end = std::min(end, std::min(view.file.text().find('(', use.span.begin), end));
    parts.push_back({use.span.begin, end, type, is_declaration ? modifier_declaration : 0});
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const coloured& left, const coloured& right) { return left.begin < right.begin; });
  return parts;
}

/// Encodes tokens relative to each other. Parts of several lines become a token for each line.
class token_encoder {
 public:
  explicit token_encoder(const text_index& index) : index_(index) {}

  void add(const coloured& part) {
    std::size_t begin = std::max(part.begin, covered_);
    while (begin < part.end) {
      const std::size_t line_end = std::min(index_.text().find_first_of("\r\n", begin), part.end);
      if (line_end > begin) add(begin, line_end, part);
      begin = line_end + 1;
    }
    covered_ = std::max(covered_, part.end);
  }

  json take() { return std::move(numbers_); }

 private:
  void add(std::size_t begin, std::size_t end, const coloured& part) {
    const text_position at = index_.position(begin);
    const std::size_t line = at.line - last_.line;
    for (const std::size_t number :
         {line, line == 0 ? at.character - last_.character : at.character, index_.units_between(begin, end),
          static_cast<std::size_t>(part.type), static_cast<std::size_t>(part.modifiers)})
      numbers_.push_back(number);
    last_ = at;
  }

  const text_index& index_;
  json numbers_ = json::array();
  text_position last_;
  std::size_t covered_ = 0;
};

class folder_of_text {
 public:
  explicit folder_of_text(const file_view& view) : view_(view), tokens_(view.program.tokens(view.file)) {}

  json run() {
    std::vector<std::size_t> open;
    for (const syntax::format_item& item : tokens_.items) {
      const std::size_t begin = tokens_.pieces.tokens[item.begin].begin;
      if (item.what == syntax::format_item::kind::block_open) {
        open.push_back(begin);
      } else if (item.what == syntax::format_item::kind::block_close) {
        if (open.empty()) continue;
        add(open.back(), begin, nullptr);
        open.pop_back();
      } else if (item.end > item.begin) {
        add(begin, tokens_.pieces.tokens[item.end - 1].end, nullptr);
      }
    }
    comments();
    return std::move(ranges_);
  }

 private:
  void add(std::size_t begin, std::size_t end, const char* kind) {
    const std::size_t first = view_.index.position(begin).line;
    const std::size_t last = view_.index.position(end).line;
    if (last <= first) return;
    json range = {{"startLine", first}, {"endLine", last}};
    if (kind != nullptr) range["kind"] = kind;
    ranges_.push_back(std::move(range));
  }

  /// Adds comments in adjacent lines together.
  void comments() {
    const std::vector<syntax::format_comment>& all = tokens_.pieces.comments;
    for (std::size_t first = 0, last = 0; first < all.size(); first = last) {
      last = first + 1;
      if (all[first].what == syntax::format_comment::kind::directive) continue;
      while (last < all.size() && all[last].what == all[first].what &&
             view_.index.position(all[last].begin).line == view_.index.position(all[last - 1].end).line + 1)
        ++last;
      add(all[first].begin, all[last - 1].end, "comment");
    }
  }

  const file_view& view_;
  const file_tokens& tokens_;
  json ranges_ = json::array();
};

}  // namespace

json folding_ranges(const file_view& view) { return folder_of_text(view).run(); }

json semantic_legend() {
  json types = json::array();
  for (const char* name : type_names) types.push_back(name);
  return {{"tokenTypes", types}, {"tokenModifiers", json::array({"declaration"})}};
}

json semantic_tokens(const file_view& view) {
  token_encoder encoder(view.index);
  for (const coloured& part : coloured_parts(view)) encoder.add(part);
  return {{"data", encoder.take()}};
}

}  // namespace gpulog::lsp
