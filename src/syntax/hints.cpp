#include "syntax/hints.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "support/value_table.hpp"
#include "syntax/hint_texts.hpp"
#include "syntax/lexer.hpp"

namespace gpulog::syntax {

namespace {

using namespace place_flag;

std::string_view text_of(const source_span& span) {
  return span.valid() ? span.file->text().substr(span.begin, span.end - span.begin) : std::string_view();
}

/// Returns the text from the start of the span.
std::string_view text_from(const source_span& span) {
  return span.valid() ? span.file->text().substr(span.begin) : std::string_view();
}

std::string_view name_at(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_identifier_part(text[end])) ++end;
  return text.substr(0, end);
}

/// Returns the name directly after the first character.
std::string_view name_after(const source_span& span) {
  const std::string_view text = text_from(span);
  return text.empty() ? text : name_at(text.substr(1));
}

// ---- hints about what is written ------------------------------------------------------------------------------------

hint about_directive(const unexpected_place& place) {
  if (place.kind != token_kind::dot) return hint_about_directive(place.last);
  const std::uint32_t begin = place.current.begin + 1;
  const auto length = static_cast<std::uint32_t>(name_after(place.current).size());
  return hint_about_directive({place.current.file, begin, begin + length});
}

hint about_aggregate(const unexpected_place& place) { return hint_about_aggregate(place.last); }

hint about_functor(const unexpected_place& place) { return hint_about_functor(place.last); }

hint about_unknown_call(const unexpected_place& place) {
  const std::string_view name = text_of(place.last);
  return {"There is no functor or macro " + std::string(name) +
              "; a functor of a library is declared by .functor and called as @" + std::string(name) + "(...)",
          name};
}

hint about_query(const unexpected_place& /*place*/) { return {query_hint(), {}}; }

std::string reserved_text(std::string_view word) { return "'" + std::string(word) + "' is a reserved word"; }

hint about_reserved(const unexpected_place& place) {
  return {reserved_text(text_of(place.current)) + "; choose another name", {}, place.kind};
}

/// `output(1).` after a declaration, which takes `output` as its qualifier
hint about_reserved_qualifier(const unexpected_place& place) {
  return {reserved_text(text_of(place.last)) + "; choose another name", {}, place.last_kind};
}

/// `p(cat)`
hint about_reserved_functor(const unexpected_place& place) {
  const std::string word(text_of(place.last));
  return {reserved_text(word) + "; choose another name, or write a call as " + word + "(...)", {}, place.last_kind};
}

/// Returns whether the token starts a literal or a later argument, and is no side of a comparison.
bool begins_literal(const source_span& token) {
  const std::string_view before = token.file->text().substr(0, token.begin);
  const std::size_t end = before.find_last_not_of(" \t\r\n");
  return end != std::string_view::npos && std::string_view(",-;!{").find(before[end]) != std::string_view::npos;
}

/// `n = count(a)`, or a relation `count`
hint about_form(const unexpected_place& place) {
  const std::string word(text_of(place.form));
  const token_kind kind = kind_of_word(word);
  if (kind == token_kind::word_contains || kind == token_kind::word_match) {
    return {reserved_text(word) + "; choose another name. The test of a symbol is written " + word + "(\"a\", x)",
            {},
            kind};
  }
  const std::string form = hint_about_aggregate_form(word);
  const bool is_alone =
      place.last == place.form && is_one_of(place.kind, {token_kind::comma, token_kind::right_parenthesis});
  if (!is_alone && !begins_literal(place.form)) return {form, {}};
  return {reserved_text(word) + "; choose another name. " + form, {}, kind};
}

/// `p(x) :- q(x), strlen(x).`
hint about_value(const unexpected_place& place) {
  const std::string_view word = name_at(text_from(place.value));
  if (kind_of_word(word) == token_kind::identifier) {
    return {"A value is not a literal; a comparison is, as in x = 1", {}};
  }
  const std::string call = std::string(word) + "(...)";
  return {reserved_text(word) + ", and " + call +
              " is a value; choose another name, or compare the value, as in n = " + call,
          {},
          kind_of_word(word)};
}

/// `a(x) ; b(x) :- c(x).` and `a(1); a(2);`
hint about_semicolon_in_head(const unexpected_place& place) {
  const std::string_view rest = text_from(place.current);
  const bool is_rule = rest.substr(0, rest.find('\n')).find(":-") != std::string_view::npos;
  return {is_rule ? "Several heads are joined with a comma: a(x), b(x) :- body." : "", {}};
}

/// `.5` and `2.`
hint about_float_dot(const unexpected_place& place) {
  const bool is_before = place.last_kind == token_kind::number && (place.flags & adjacent) != 0;
  const std::string written =
      is_before ? std::string(text_of(place.last)) + ".0" : "0." + std::string(name_after(place.current));
  return {"A float has digits on both sides of its dot: " + written, {}};
}

/// `x = 2. .`: the first dot ended the rule.
hint about_float_at_end(const unexpected_place& place) {
  const std::string_view before = place.last.file->text().substr(0, place.last.begin);
  if (before.empty() || !is_digit(before.back())) return {};
  return {"A float has digits on both sides of its dot: 2.0", {}};
}

/// `z = x . y.`: the first dot ended the rule.
hint about_joined_names(const unexpected_place& place) {
  const std::string_view before = place.last.file->text().substr(0, place.last.begin);
  return {before.ends_with(" . ") ? std::string(concatenation_hint) : std::string(), {}};
}

/// `1e5` and `1.5e3`
hint about_exponent(const unexpected_place& place) {
  const std::string_view exponent = text_of(place.current);
  if (!exponent.starts_with('e') && !exponent.starts_with('E')) return {};
  if (!std::all_of(exponent.begin() + 1, exponent.end(), is_digit)) return {};
  const std::string_view text = text_from(place.last);
  double value = 0;
  const auto [rest, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  constexpr std::size_t longest = 24;
  std::array<char, longest> written{};
  const auto [end, too_long] =
      std::to_chars(written.data(), written.data() + written.size(), value, std::chars_format::fixed);
  std::string plain(written.data(), end);
  if (plain.find('.') == std::string::npos) plain += ".0";
  if (fault != std::errc() || too_long != std::errc()) plain = "100000.0";
  return {"A float is written without an exponent: " + plain, {}};
}

// ---- the table ------------------------------------------------------------------------------------------------------

/// Kinds of tokens in the table; all further patterns are texts.
constexpr std::string_view any, a_name = "\1", a_number = "\2", a_symbol = "\3", a_word = "\4", an_item = "\5";

/// A hint for places with all of these flags and tokens. The first matching row with a hint applies.
struct hint_row {
  std::uint32_t flags;   ///< required flags
  std::uint32_t others;  ///< excluded flags
  std::string_view last, here, next;
  std::string_view text;
  hint (*make)(const unexpected_place&) = nullptr;  ///< replaces the text
};

constexpr std::string_view end_mark_hint = "Declarations and directives have no end mark";
constexpr std::string_view dot_hint = "The dot before this place ends the rule; a comma joins literals";
constexpr std::string_view field_hint = "A field of a record is read with a pattern: a = [x, _]";
constexpr std::string_view record_type_form = "A record type is written [x:number, y:symbol]";
constexpr std::string_view cases_hint = "Cases are alternatives: (x > 0, y = 1 ; x <= 0, y = 2)";
constexpr std::string_view parameter_hint = "A parameter is written name=value: filename=\"x.csv\"";
constexpr std::string_view value_hint =
    "A value that is neither a name nor a number is written in double quotes: \"x.csv\"";
constexpr std::string_view directive_hint =
    "A directive has names of relations, then parameters: .input e(filename=\"e.csv\")";
constexpr std::string_view columns_hint =
    "A directive has parameters in parentheses, not columns: .output p or .output p(filename=\"p.csv\")";
constexpr std::string_view one_head_hint = "A rule has one :-; the previous clause may lack its dot";
constexpr std::string_view comparison_hint = "A comparison is a literal of two values: 1 < x, x < 3";
constexpr std::string_view clause_end_hint = "A clause ends with a dot";
constexpr std::string_view rule_end_hint = "The clause before this one ends with a semicolon; a clause ends with a dot";

constexpr hint_row rows[] = {
    // Types and attributes.
    {wants_colon, 0, a_name, any, any, "An attribute is written name:type"},
    {wants_colon, 0, ")", any, any, "A functor has the type of its result: .functor f(x:number):number"},
    {in_type | wants_brace, 0, any, any, any, branch_form},
    {in_type, 0, "=", "{", any, record_type_form},
    {in_type, 0, "=", "(", any, record_type_form},
    {item_begin | after_type, 0, any, "(", any, branch_form},
    {item_begin | after_type, 0, any, "{", any, branch_form},
    {item_begin | after_type, 0, any, ",", any, "Branches are separated by |"},
    // Declarations and directives.
    {item_begin | after_declaration, 0, any, ";", any, end_mark_hint},
    {item_begin | after_declaration | adjacent, 0, any, ".", any, end_mark_hint},
    {item_begin | after_declaration, next_adjacent, any, ".", any, end_mark_hint},
    {in_directive | wants_value, 0, any, any, any, value_hint},
    {in_directive | wants_name, 0, any, a_word, any, {}, about_reserved},
    {in_directive | wants_name | in_parentheses, 0, any, any, any, parameter_hint},
    {in_directive | wants_name, 0, any, any, any, directive_hint},
    {in_directive | in_parentheses, 0, a_name, ":", a_symbol, parameter_hint},
    {in_directive | in_parentheses, wants_end, a_name, any, any, columns_hint},
    {in_directive | in_parentheses | adjacent, 0, any, any, any, value_hint},
    {item_begin | after_directive, 0, any, a_symbol, any, directive_hint},
    {item_begin | after_directive, 0, any, "/", any, directive_hint},
    {second_token | after_directive, 0, a_name, "=", any, directive_hint},
    // Numbers.
    {adjacent | next_on_line, 0, a_number, ".", any, {}, about_float_dot},
    {next_adjacent, 0, any, ".", a_number, {}, about_float_dot},
    {item_begin | follows_rule, 0, ".", ".", any, {}, about_float_at_end},
    {adjacent, 0, a_number, a_name, any, {}, about_exponent},
    // Fields of records, and symbols that are joined.
    {adjacent | next_adjacent | next_on_line, item_begin | in_head, a_name, ".", a_name, field_hint},
    {next_on_line, item_begin | in_head, a_symbol, ".", any, concatenation_hint},
    {next_on_line, item_begin | in_head, any, ".", a_symbol, concatenation_hint},
    {adjacent, 0, "+", "+", any, concatenation_hint},
    // Words of the language as names, and values as literals.
    {wants_value, 0, any, "true", any, bool_hint},
    {wants_value, 0, any, "false", any, bool_hint},
    {wants_name, 0, any, a_word, any, {}, about_reserved},
    {item_begin | follows_rule, 0, any, a_word, any, dot_hint},
    {item_begin, 0, any, a_word, any, {}, about_reserved},
    {item_begin | after_declaration, 0, a_word, "(", any, {}, about_reserved_qualifier},
    {wants_parenthesis, 0, "autoinc", any, any, "The counter is written with parentheses: autoinc()"},
    {wants_parenthesis, 0, a_word, any, any, {}, about_reserved_functor},
    // Rules and their ends.
    {in_brackets, 0, any, "|", any, "A list is a record: [head, tail]"},
    {0, 0, ",", ".", any, "Nothing follows the comma"},
    {second_token, 0, a_name, ":-", any, "A relation without attributes is written with parentheses: a()"},
    {ends_rule, in_head | item_begin, any, ":-", any, rule_end_hint},
    {0, in_head | item_begin, any, ":-", any, one_head_hint},
    {0, item_begin, ";", an_item, any, clause_end_hint},
    {in_head | next_on_line, item_begin, any, ";", a_name, {}, about_semicolon_in_head},
    {in_head | next_on_line, item_begin, any, "|", a_name, {}, about_semicolon_in_head},
    {item_begin, follows_rule, any, "!", any, "The head of a rule cannot be negated"},
    // Queries.
    {0, 0, "?", "-", any, {}, about_query},
    {in_head, 0, any, "?", any, {}, about_query},
    {item_begin, 0, any, ":-", any, {}, about_query},
    {0, 0, any, "?", any, cases_hint},
    // Spellings of other languages.
    {item_begin, 0, any, "%", any, comment_form},
    {item_begin, 0, any, "--", any, comment_form},
    {item_begin, 0, any, "(*", any, comment_form},
    {adjacent, 0, "=", "=", any, equality_hint},
    {adjacent, 0, "<", ">", any, inequality_hint},
    {adjacent, 0, "!=", "=", any, inequality_hint},
    {adjacent, 0, "=", "!", any, inequality_hint},
    {adjacent, 0, "=", "<", any, less_hint},
    {adjacent, 0, "=", ">", any, greater_hint},
    {adjacent, 0, "*", "*", any, "Powers are written ^"},
    {in_head, 0, any, "<-", any, rule_form},
    {in_head, 0, any, "->", any, rule_form},
    {in_head, 0, any, "=", any, rule_form},
    {in_head, 0, any, "<=", any, rule_form},
    {in_head, 0, any, ":", any, rule_form},
    {in_head, 0, any, "if", any, rule_form},
    {second_token, 0, "if", any, any, rule_form},
    {0, in_head, any, ":=", any, equality_hint},
    {after_operand, 0, any, "|", any, disjunction_hint},
    {0, 0, "not", any, any, negation_hint},
    {0, 0, "NOT", any, any, negation_hint},
    {0, 0, "distinct", any, any, "Relations are sets: no tuple is in them twice"},
    {0, 0, "if", any, any, cases_hint},
    {0, 0, any, "then", any, cases_hint},
    {0, 0, any, "and", any, conjunction_hint},
    {0, 0, any, "AND", any, conjunction_hint},
    {0, 0, any, "or", any, disjunction_hint},
    {0, 0, any, "OR", any, disjunction_hint},
    {0, 0, any, "not", any, negation_hint},
    {0, 0, any, "mod", any, "The remainder is written %"},
    {0, 0, any, "is", any, equality_hint},
    {0, 0, any, "in", any, "A choice of values is written as alternatives: (x = 1 ; x = 2)"},
    {0, 0, any, "like", any, "Patterns are written match(\"a.*\", x)"},
    {0, 0, any, "if", any, cases_hint},
    {item_begin | follows_rule, 0, any, "!", any, dot_hint},
    {item_begin | follows_rule, 0, any, "(", any, dot_hint},
    {item_begin | follows_rule, 0, any, a_number, any, dot_hint},
    {item_begin | follows_rule, 0, any, a_symbol, any, dot_hint},
    {second_token | follows_rule, 0, a_name, ".", any, {}, about_joined_names},
    {second_token | follows_rule, 0, a_name, any, any, dot_hint},
    {after_operand, in_head | item_begin, any, "<", any, comparison_hint},
    {after_operand, in_head | item_begin, any, ">", any, comparison_hint},
    {after_operand, in_head | item_begin, any, "=", any, comparison_hint},
    {after_operand, in_head | item_begin, any, "!=", any, comparison_hint},
    {0, 0, any, ";", any, clause_end_hint},
    // Unknown names.
    {item_begin, 0, any, ".", any, {}, about_directive},
    {after_operand, 0, a_name, "(", any, {}, about_functor},
    {in_form, 0, any, any, any, {}, about_form},
    {after_operand, 0, a_name, "(", any, {}, about_unknown_call},
    {after_operand, in_head, a_name, ":", any, {}, about_aggregate},
    {after_operand, 0, a_name, a_name, any, {}, about_aggregate},
    {value_alone, 0, any, any, any, {}, about_value},
};

bool fits(std::string_view pattern, token_kind kind, std::string_view rest) {
  if (pattern == any) return true;
  if (pattern == a_name) return kind == token_kind::identifier;
  if (pattern == a_number) return kind == token_kind::number || kind == token_kind::floating;
  if (pattern == a_symbol) return kind == token_kind::string;
  if (pattern == a_word) return is_word(kind);
  if (pattern == an_item) return is_directive(kind) || kind == token_kind::end_of_file;
  return is_name(pattern) ? name_at(rest) == pattern : rest.starts_with(pattern);
}

bool fits(const hint_row& row, const unexpected_place& place) {
  if ((place.flags & row.flags) != row.flags || (place.flags & row.others) != 0) return false;
  // The last token is compared as a whole: `=` is not the start of `=>`.
  const std::string_view last = text_of(place.last);
  const bool is_last = row.last == any || (place.last.valid() && fits(row.last, place.last_kind, last) &&
                                           (row.last.front() < ' ' || last.size() == row.last.size()));
  // The end of the text has the place of its last byte.
  const std::string_view here = place.kind == token_kind::end_of_file ? std::string_view() : text_from(place.current);
  return is_last && fits(row.here, place.kind, here) && fits(row.next, place.next_kind, {});
}

/// `a.x > 1` was read as the name of a relation, and `y = a.x.` as a rule with something after its dot.
bool is_field(const unexpected_place& place) {
  if ((place.flags & in_clause) == 0 || place.last_kind != token_kind::identifier || place.kind == token_kind::if_) {
    return false;
  }
  const std::string_view text = place.last.file->text();
  const std::size_t begin = place.last.begin;
  return begin > 1 && text[begin - 1] == '.' && is_identifier_part(text[begin - 2]);
}

/// `a(1)` and `.ouput a` in the next line: the dot of the directive ends the clause.
bool is_directive_at_dot(const unexpected_place& place) {
  return (place.flags & in_clause) != 0 && (place.flags & second_token) != 0 && place.kind == token_kind::identifier &&
         place.last.begin > 0 && place.last.file->text()[place.last.begin - 1] == '.';
}

}  // namespace

std::string hint_about_comments() { return std::string(comment_form); }

std::string hint_about_aggregate_form(std::string_view op) {
  const std::string name(op);
  const std::string form = "The aggregate " + name + " is written n = " + name;
  if (op == "count") return form + " : sale(s, _)";
  const bool is_functor = op == "min" || op == "max";
  return form + " a : sale(s, a)" + (is_functor ? "; of two values, " + name + "(a, b)" : "");
}

hint hint_at(const unexpected_place& place) {
  if (is_field(place)) return {std::string(field_hint), {}};
  if (is_directive_at_dot(place)) return about_directive(place);
  for (const hint_row& row : rows) {
    if (!fits(row, place)) continue;
    hint result = row.make == nullptr ? hint{std::string(row.text), {}} : row.make(place);
    if (!result.text.empty()) return result;
  }
  return {};
}

}  // namespace gpulog::syntax
