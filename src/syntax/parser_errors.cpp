#include <algorithm>

#include "support/value_table.hpp"
#include "syntax/hints.hpp"
#include "syntax/lexer.hpp"
#include "syntax/parser_state.hpp"

namespace gpulog::syntax {

namespace {

bool are_adjacent(const source_span& first, const source_span& second) {
  return first.file == second.file && first.end == second.begin;
}

bool are_on_one_line(const source_span& first, const source_span& second) {
  return first.valid() && first.file == second.file &&
         first.file->physical_line(first.end) == second.file->physical_line(second.begin);
}

/// Whether `span` begins a line after `before` that is not further right than `margin`.
bool begins_line(const source_span& span, const source_span& before, const source_span& margin) {
  if (!span.valid() || span.file != margin.file || are_on_one_line(before, span)) return false;
  return span.file->position(span.begin).column <= margin.file->position(margin.begin).column;
}

/// Whether the text begins as an atom does: `a.b(`, and not as parameters of a directive do: `a.b(key=`.
bool begins_atom(std::string_view text) {
  const auto skip = [&text](auto wanted) {
    std::size_t length = 0;
    while (length < text.size() && wanted(text[length])) ++length;
    text.remove_prefix(length);
  };
  const auto is_blank_character = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  skip([](char c) { return is_identifier_part(c) || c == '.'; });
  skip(is_blank_character);
  if (!text.starts_with('(')) return false;
  text.remove_prefix(1);
  skip(is_blank_character);
  skip(is_identifier_part);
  skip(is_blank_character);
  return !text.starts_with('=');
}

}  // namespace

diagnostics::entry& parser::report_unexpected(const source_span& where, std::string message) {
  const bool at_end = current_.kind == token_kind::end_of_file;
  return at_end ? report_.error_at_end(where, std::move(message)) : report_.error(where, std::move(message));
}

diagnostics::entry& parser::report_current() {
  if (current_.kind == token_kind::invalid) {
    return report_.error(current_.span, std::string(current_.text.substr(0, current_.text.find('\n'))));
  }
  // As many alternatives as Soufflé names.
  constexpr std::size_t max_named = 4;
  std::string message = "syntax error, unexpected ";
  message += readable_name(current_.kind);
  if (expected_.count() <= max_named) {
    std::string_view separator = ", expecting ";
    for (std::size_t kind = 0; kind < expected_.size(); ++kind) {
      if (!expected_.test(kind)) continue;
      message += std::exchange(separator, " or ");
      message += readable_name(static_cast<token_kind>(kind));
    }
  }
  return report_unexpected(current_.span, message);
}

void parser::report_missing_dot() {
  const source_span end_of_clause{last_span_.file, last_span_.end, last_span_.end};
  const bool is_fact = may_be(token_kind::if_);
  auto& error = report_unexpected(end_of_clause, "syntax error, missing . at the end of the clause");
  error.note(current_.span,
             current_.kind == token_kind::end_of_file ? "The program ends here" : "The next one begins here");
  error.fixes.push_back({end_of_clause, "."});
  std::string name(item_.begin.file->text().substr(item_.begin.begin, item_.begin.end - item_.begin.begin));
  const bool is_macro =
      std::all_of(name.begin(), name.end(), [](char c) { return c == '_' || (c >= 'A' && c <= 'Z'); });
  if (is_fact && is_macro) unknown_relations_.push_back({&error, name, "There is no relation or macro " + name});
}

void parser::fail() {
  // The lexer reported it, or what leads to it was reported.
  const bool is_reported = current_.kind == token_kind::invalid && current_.text.empty();
  if (is_reported || follows_from_reserved_word()) throw syntax_error();
  if (lacks_dot()) {
    report_missing_dot();
    item_follows_ = true;
  } else {
    add_hint(report_current());
  }
  throw syntax_error();
}

void parser::add_hint(diagnostics::entry& error) {
  if (item_.long_symbol.valid()) {
    error.note(item_.long_symbol, "The symbol that begins here ends on another line; its closing quote may be missing");
    return;
  }
  if (current_.kind == token_kind::invalid) {
    const std::size_t end = current_.text.find('\n');
    if (end != std::string_view::npos) error.note(std::string(current_.text.substr(end + 1)));
    return;
  }
  hint found = hint_at(place_of_current());
  const bool may_be_closing = lacks_closing() && (current_.kind != token_kind::dot || found.text.empty());
  if (may_be_closing) {
    error.note(open_.back().where, "This " + std::string(open_.back().text()) + " is not closed");
  }
  if (found.misspelled.valid()) error.fixes.push_back({found.misspelled, found.meant});
  if (found.reserved != token_kind::identifier) reserved_.push_back(found.reserved);
  if (!found.unknown.empty()) {
    unknown_functors_.push_back({&error, std::string(found.unknown), std::move(found.text)});
  } else if (!found.text.empty()) {
    error.note(std::move(found.text));
  }
}

unexpected_place parser::place_of_current() {
  using namespace place_flag;
  const token& next = next_token();
  std::uint32_t flags = item_.flags;
  const auto set = [&flags](std::uint32_t flag, bool value) {
    if (value) flags |= flag;
  };
  const std::size_t taken = taken_ - taken_before_item_;
  const auto wants_only = [this](token_kind kind) { return expected_.count() == 1 && may_be(kind); };
  const auto innermost = [this](token_kind closing) { return !open_.empty() && open_.back().closing == closing; };
  set(item_begin, taken == 0);
  set(second_token, taken == 1);
  set(in_head, may_be(token_kind::if_));
  set(after_operand, may_be(token_kind::comma) || may_be(token_kind::semicolon) || may_be(token_kind::plus));
  set(wants_value, may_be(token_kind::number));
  set(wants_name, may_be(token_kind::identifier));
  set(wants_end, may_be(token_kind::right_parenthesis));
  set(wants_parenthesis, wants_only(token_kind::left_parenthesis));
  set(wants_colon, wants_only(token_kind::colon));
  set(wants_brace, wants_only(token_kind::left_brace));
  set(in_clause, item_.kind == token_kind::identifier);
  set(in_type, item_.kind == token_kind::directive_type);
  set(in_directive, is_one_of(item_.kind, {token_kind::directive_input, token_kind::directive_output,
                                           token_kind::directive_printsize, token_kind::directive_limitsize}));
  set(in_brackets, innermost(token_kind::right_bracket));
  set(in_parentheses, innermost(token_kind::right_parenthesis));
  set(in_form, item_.form.valid());
  set(value_alone, item_.value_alone.valid());
  set(adjacent, last_span_.valid() && are_adjacent(last_span_, current_.span));
  set(next_adjacent, are_adjacent(current_.span, next.span));
  set(next_on_line, next.kind != token_kind::end_of_file && are_on_one_line(current_.span, next.span));
  set(ends_rule, item_.last_semicolon.valid());
  return {current_.kind, current_.span, last_kind_, last_span_, next.kind, flags, item_.value_alone, item_.form};
}

std::uint32_t parser::flags_after(const std::vector<item>& before) const {
  using namespace place_flag;
  if (before.empty() || !last_span_.valid()) return 0;
  const item& last = before.back();
  const source_span span = std::visit([](const auto& node) -> source_span { return node.span; }, last.value);
  if (span.file != last_span_.file || span.end != last_span_.end) return 0;  // an error came between
  if (const auto* rule = last.as<clause>()) {
    if (rule->body.empty() || begins_line(current_.span, span, span)) return 0;
    return follows_rule;
  }
  if (last.as<subsumption>() != nullptr) return 0;
  if (last.as<type_declaration>() != nullptr) return after_declaration | after_type;
  if (last.as<gpulog::syntax::directive>() != nullptr) return after_declaration | after_directive;
  return after_declaration;
}

bool parser::follows_from_reserved_word() const {
  const auto is_reported = [this](token_kind kind) {
    return std::find(reserved_.begin(), reserved_.end(), kind) != reserved_.end();
  };
  return is_reported(current_.kind) || std::any_of(item_.words.begin(), item_.words.end(), is_reported);
}

bool parser::is_end_mark() {
  if ((item_.flags & place_flag::after_declaration) == 0) return false;
  if (current_.kind == token_kind::semicolon) return true;
  return current_.kind == token_kind::dot &&
         (are_adjacent(last_span_, current_.span) || !are_adjacent(current_.span, next_token().span));
}

bool parser::ends_clause() {
  using enum token_kind;
  if (is_directive(item_.kind)) return false;
  const token& next = next_token();
  // `a.x`
  if (next.kind == identifier && last_kind_ == identifier && are_adjacent(last_span_, current_.span)) {
    return !are_adjacent(current_.span, next.span);
  }
  // `.5`, `"a" . "b"` and the like: nothing that may begin an item.
  return !is_one_of(next.kind, {number, unsigned_number, floating, string, right_parenthesis, right_bracket, comma});
}

bool parser::is_before_clause() {
  if (!open_.empty()) return false;
  const token& next = next_token();
  if (next.kind != token_kind::identifier) {
    return is_directive(next.kind) || next.kind == token_kind::end_of_file ||
           !are_on_one_line(current_.span, next.span);
  }
  return item_.kind != token_kind::identifier && begins_line(next.span, current_.span, item_.begin) &&
         begins_atom(next.span.file->text().substr(next.span.begin));
}

bool parser::is_on_next_line_of_item() const {
  return current_.kind != token_kind::end_of_file && begins_line(current_.span, last_span_, item_.begin);
}

void parser::explain_unknown_names() {
  for (unknown_name& one : unknown_functors_) {
    const auto branch = branches_.find(one.name);
    std::string text = std::move(one.otherwise);
    if (branch != branches_.end()) {
      text = one.name + " is a branch of type " + branch->second + ": write $" + one.name + "(...)";
    } else if (relations_.contains(one.name)) {
      text = one.name + " is a relation; an atom is a literal of its own and not a value";
    }
    one.error->note(std::move(text));
  }
  for (unknown_name& one : unknown_relations_) {
    if (!relations_.contains(one.name)) one.error->note(std::move(one.otherwise));
  }
}

bool parser::lacks_closing() const {
  if (open_.empty() || !may_be(open_.back().closing)) return false;
  switch (current_.kind) {
    case token_kind::end_of_file:
    case token_kind::dot:
    case token_kind::if_:
    case token_kind::right_parenthesis:
    case token_kind::right_bracket:
    case token_kind::right_brace:
      return true;
    default:
      break;
  }
  return is_directive(current_.kind) ||
         (current_.span.file == last_span_.file &&
          current_.span.file->position(current_.span.begin).line != last_span_.file->position(last_span_.end).line);
}

bool parser::lacks_dot() const {
  if (!open_.empty() || !may_be(token_kind::dot) || may_be(token_kind::left_parenthesis) || !last_span_.valid())
    return false;
  if (current_.kind == token_kind::end_of_file) return true;
  if (current_.kind == token_kind::right_brace) return components_open_ > 0;
  if (is_directive(current_.kind)) return current_.kind != token_kind::directive_plan;
  if (current_.kind != token_kind::identifier || current_.span.file != item_.begin.file) return false;
  // A literal may stand on a line of its own, too, but further to the right than its clause.
  const source_position here = current_.span.file->position(current_.span.begin);
  const source_position begin = item_.begin.file->position(item_.begin.begin);
  const source_position last = last_span_.file->position(last_span_.end);
  return here.line != last.line && here.column <= begin.column;
}

void parser::too_deep(std::uint32_t limit) {
  needs_deep_stack_ = true;
  report_.error(current_.span, "expression is nested too deeply: the limit is " + std::to_string(limit) + " levels");
  throw syntax_error();
}

}  // namespace gpulog::syntax
