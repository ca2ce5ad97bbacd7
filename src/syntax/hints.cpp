#include "syntax/hints.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "support/suggestion.hpp"
#include "syntax/lexer.hpp"

namespace gpulog::syntax {

namespace {

struct foreign_name {
  std::string_view foreign, ours;
};

constexpr foreign_name foreign_functors[] = {
    {"concat", "cat"},         {"strcat", "cat"},       {"concatenate", "cat"},
    {"length", "strlen"},      {"len", "strlen"},       {"strlength", "strlen"},
    {"substring", "substr"},   {"str", "to_string"},    {"tostring", "to_string"},
    {"string", "to_string"},   {"int", "to_number"},    {"integer", "to_number"},
    {"tonumber", "to_number"}, {"number", "to_number"}, {"unsigned", "to_unsigned"},
    {"float", "to_float"},     {"double", "to_float"},  {"cast", "as"},
    {"hash", "ord"},           {"least", "min"},        {"greatest", "max"},
};
constexpr foreign_name foreign_aggregates[] = {
    {"avg", "mean"}, {"average", "mean"}, {"total", "sum"}, {"minimum", "min"}, {"maximum", "max"}, {"cnt", "count"},
};
constexpr foreign_name foreign_directives[] = {
    {"import", "input"},  {"load", "input"},   {"export", "output"},  {"print", "output"},
    {"relation", "decl"}, {"declare", "decl"}, {"rel", "decl"},       {"component", "comp"},
    {"instance", "init"}, {"typedef", "type"}, {"size", "printsize"},
};

/// The name of ours that is meant, by its meaning elsewhere or by its letters; empty: none.
std::string ours_for(std::string_view name, std::span<const foreign_name> table,
                     const std::vector<std::string>& candidates) {
  const auto found =
      std::find_if(table.begin(), table.end(), [name](const foreign_name& one) { return one.foreign == name; });
  if (found != table.end()) return std::string(found->ours);
  return closest_name(name, candidates).value_or("");
}

const std::vector<std::string>& functor_names() {
  static const std::vector<std::string> names = {"cat",         "ord",       "range",     "strlen", "substr",
                                                 "to_float",    "to_number", "to_string", "min",    "max",
                                                 "to_unsigned", "as",        "autoinc"};
  return names;
}

const std::vector<std::string>& aggregate_names() {
  static const std::vector<std::string> names = {"count", "sum", "min", "max", "mean"};
  return names;
}

std::string_view text_of(const source_span& span) {
  return span.valid() ? span.file->text().substr(span.begin, span.end - span.begin) : std::string_view();
}

/// From the span's beginning on.
std::string_view text_from(const source_span& span) {
  return span.valid() ? span.file->text().substr(span.begin) : std::string_view();
}

bool is_name(std::string_view text) { return !text.empty() && is_identifier_start(text.front()); }

std::string_view name_at(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_identifier_part(text[end])) ++end;
  return text.substr(0, end);
}

/// The unexpected token, joined with the one before if nothing stands between them.
std::string joined_text(const unexpected_place& place) {
  const bool adjacent = place.last.file == place.current.file && place.last.end == place.current.begin;
  return std::string(adjacent ? text_of(place.last) : std::string_view()) + std::string(text_of(place.current));
}

struct foreign_text {
  std::string_view text;
  std::string_view hint;
};

constexpr std::string_view equality_hint = "Equality is written =";
constexpr std::string_view inequality_hint = "Inequality is written !=";
constexpr std::string_view conjunction_hint = "Literals are joined with a comma: a(x), b(x)";
constexpr std::string_view disjunction_hint = "Alternatives are separated by a semicolon: a(x) ; b(x)";
constexpr std::string_view negation_hint = "Negation is written !: a(x), !b(x)";
constexpr std::string_view rule_form = "A rule is written head :- body.";
constexpr std::string_view comment_form = "A comment begins with // or stands between /* and */";
constexpr std::string_view text_form = "A symbol stands in double quotes: \"a\"";

std::string hint_about_operator(const unexpected_place& place) {
  constexpr foreign_text operators[] = {
      {"==", equality_hint},
      {"<>", inequality_hint},
      {"!==", inequality_hint},
      {"=<", "Less or equal is written <="},
      {"=>", "Greater or equal is written >="},
      {"**", "Powers are written ^"},
      {"=!", inequality_hint},
  };
  const std::string joined = joined_text(place);
  for (const foreign_text& one : operators) {
    if (joined == one.text) return std::string(one.hint);
  }
  const std::string_view rest = text_from(place.current);
  if (place.may_be_rule) {
    for (const std::string_view arrow : {"<-", "->", "=>", "<=", ":=", "::", "=", ":"}) {
      if (rest.starts_with(arrow)) return std::string(rule_form);
    }
  }
  if (place.begins_item && (rest.starts_with('%') || rest.starts_with("--") || rest.starts_with("(*"))) {
    return std::string(comment_form);
  }
  if (place.kind == token_kind::pipe && place.may_be_literal_end) return std::string(disjunction_hint);
  if (place.kind == token_kind::if_ && !place.may_be_rule && !place.begins_item) {
    return "A rule has one :-; a clause before this one may lack its dot";
  }
  if (place.kind == token_kind::semicolon) return "A clause ends with a dot";
  return {};
}

std::string hint_about_directive(std::string_view name) {
  if (name.empty()) return {};
  std::vector<std::string> known;
  for (const std::string_view one : directive_names()) known.emplace_back(one);
  const std::string meant = ours_for(name, foreign_directives, known);
  return "There is no directive ." + std::string(name) + (meant.empty() ? "" : ", did you mean '." + meant + "'?");
}

std::string hint_about_aggregate(std::string_view name) {
  if (!is_name(name)) return {};
  const std::string meant = ours_for(name, foreign_aggregates, aggregate_names());
  if (meant.empty() || meant == name) return {};
  return "There is no aggregate " + std::string(name) + ", did you mean '" + meant + "'?";
}

/// `not a(x)`, `a(x) and b(x)`, `x mod y`
std::string hint_about_word(const unexpected_place& place) {
  constexpr foreign_text before[] = {
      {"not", negation_hint}, {"NOT", negation_hint}, {"distinct", "Relations are sets: no tuple is in them twice"}};
  constexpr foreign_text here[] = {
      {"and", conjunction_hint}, {"AND", conjunction_hint}, {"or", disjunction_hint},
      {"OR", disjunction_hint},  {"not", negation_hint},    {"mod", "The remainder is written %"},
      {"if", rule_form},         {"is", equality_hint},     {"like", "Patterns are written match(\"a.*\", x)"},
  };
  const std::string_view last = text_of(place.last);
  for (const foreign_text& one : before) {
    if (last == one.text) return std::string(one.hint);
  }
  const std::string_view current = text_of(place.current);
  for (const foreign_text& one : here) {
    if (current == one.text) return std::string(one.hint);
  }
  if (!is_name(last)) return {};
  // A clause without a dot seems to end with the dot of an unknown directive behind it.
  const bool follows_dot = place.last.begin > 0 && place.last.file->text()[place.last.begin - 1] == '.';
  if (follows_dot && !place.begins_item) return hint_about_directive(last);
  return place.may_be_literal_end ? hint_about_aggregate(last) : "";
}

std::string hint_about_call(const unexpected_place& place) {
  const std::string_view name = text_of(place.last);
  if (!is_name(name)) return {};
  if (name == "not") return std::string(negation_hint);
  std::string meant = ours_for(name, foreign_functors, functor_names());
  if (meant.empty()) meant = ours_for(name, foreign_aggregates, aggregate_names());
  const std::string known = "There is no functor " + std::string(name);
  if (!meant.empty()) return known + ", did you mean '" + meant + "'?";
  return known + "; one of a library is declared by .functor and called as @" + std::string(name) + "(...)";
}

}  // namespace

std::string hint_about_comments() { return std::string(comment_form); }

std::string hint_at(const unexpected_place& place) {
  if (place.has_to_be_colon) return "An attribute is written name:type";
  switch (place.kind) {
    case token_kind::dot:
      if (text_of(place.last) == ",") return "Nothing follows the comma";
      return place.begins_item && place.current.valid()
                 ? hint_about_directive(name_at(text_from(place.current).substr(1)))
                 : "";
    case token_kind::left_parenthesis:
      return place.may_be_literal_end ? hint_about_call(place) : "";
    case token_kind::identifier:
      return hint_about_word(place);
    case token_kind::end_of_file:
      return {};
    case token_kind::colon:
      if (place.may_be_literal_end && !place.may_be_rule) return hint_about_aggregate(text_of(place.last));
      break;
    default:
      break;
  }
  return hint_about_operator(place);
}

std::string hint_about_text(std::string_view rest) {
  constexpr foreign_text texts[] = {
      {"&", conjunction_hint},
      {"'", text_form},
      {"`", text_form},
      {"\\=", inequality_hint},
      {"\\+", negation_hint},
      {"\\/", disjunction_hint},
      {"~", negation_hint},
      {"\xC2\xAC", negation_hint},
      {"\xE2\x88\xA7", conjunction_hint},
      {"\xE2\x88\xA8", disjunction_hint},
      {"\xE2\x89\xA0", inequality_hint},
      {"\xE2\x89\xA4", "Less or equal is written <="},
      {"\xE2\x89\xA5", "Greater or equal is written >="},
      {"\xE2\x86\x90", rule_form},
      {"\xE2\x80\x9C", text_form},
      {"\xE2\x80\x9D", text_form},
      {"\xE2\x80\x98", text_form},
      {"\xE2\x80\x99", text_form},
      {"\xC2\xA0", "This is a no-break space; blanks, tabs and line ends separate words"},
      {"\xEF\xBB\xBF", "This is a byte order mark; it may only stand at the beginning of a file"},
      {"\"", "The quote is not closed on this line: a symbol ends with \""},
  };
  for (const foreign_text& one : texts) {
    if (rest.starts_with(one.text)) return std::string(one.hint);
  }
  return {};
}

std::size_t length_of_unknown(std::string_view rest) {
  const auto first = static_cast<unsigned char>(rest.front());
  if (first >= 0x80) {
    const auto is_inner = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
    std::size_t length = 1;
    while (length < 4 && length < rest.size() && is_inner(rest[length])) ++length;
    return length;
  }
  if (rest.starts_with("&&") || rest.starts_with("\\=") || rest.starts_with("\\+") || rest.starts_with("\\/")) return 2;
  if (first != '\'') return 1;
  // A text in single quotes, if it is closed on its line.
  const std::size_t end = rest.find_first_of("'\n", 1);
  return end != std::string_view::npos && rest[end] == '\'' ? end + 1 : 1;
}

}  // namespace gpulog::syntax
