#include "syntax/parser.hpp"

#include <utility>

#include "syntax/hints.hpp"
#include "syntax/parser_state.hpp"

namespace gpulog::syntax {

namespace {

/// After so many errors the rest of the text is not worth reading.
constexpr std::size_t max_errors = 100;
constexpr std::uint32_t max_component_depth = 100;

}  // namespace

program parse(source_file& main_file, source_manager& sources, diagnostics& report, const parse_options& options) {
  return parser(main_file, sources, report, options).run();
}

std::optional<query> parse_query(source_file& text, source_manager& sources, diagnostics& report,
                                 const parse_options& options) {
  parse_options chosen = options;
  chosen.preprocess = false;
  chosen.allow_include = false;
  return parser(text, sources, report, chosen).run_query();
}

std::optional<query> parser::run_query() {
  try {
    query result;
    const source_span begin = current_.span;
    result.body = body();
    result.span = since(begin);
    accept(token_kind::dot);
    expect(token_kind::end_of_file);
    return result;
  } catch (const syntax_error&) {
    return std::nullopt;
  }
}

program parser::run() {
  program result;
  items(result.items, false);
  result.needs_deep_stack = needs_deep_stack_;
  return result;
}

bool parser::at(token_kind kind) {
  if (current_.kind == kind) return true;
  if (!may_be(kind)) expected_.push_back(kind);
  return false;
}

bool parser::accept(token_kind kind) {
  if (!at(kind)) return false;
  take();
  return true;
}

token parser::expect(token_kind kind) {
  if (!at(kind)) fail();
  return take();
}

token parser::take(std::vector<token> annotations) {
  expected_.clear();
  ++taken_;
  note_brackets();
  last_span_ = current_.span;
  token taken = std::move(current_);
  advance(std::move(annotations));
  return taken;
}

void parser::note_brackets() {
  switch (current_.kind) {
    case token_kind::left_brace:
      ++braces_open_;
      open_.push_back({current_.span, token_kind::right_brace});
      break;
    case token_kind::left_parenthesis:
      open_.push_back({current_.span, token_kind::right_parenthesis});
      break;
    case token_kind::left_bracket:
      open_.push_back({current_.span, token_kind::right_bracket});
      break;
    case token_kind::right_brace:
      --braces_open_;
      [[fallthrough]];
    case token_kind::right_parenthesis:
    case token_kind::right_bracket:
      if (!open_.empty()) open_.pop_back();
      break;
    default:
      break;
  }
}

void parser::advance(std::vector<token> annotations) {
  unattached_ = std::move(annotations);
  current_ = tokens_.take();
  for (const token& aside : tokens_.asides()) {
    if (aside.kind == token_kind::include_begins) warn_of_unattached("before '.include'");
    if (aside.kind == token_kind::include_ends) warn_of_unattached("at end of included file");
    if (aside.kind == token_kind::doc_comment) unattached_.push_back(aside);
  }
}

diagnostics::entry& parser::report_unexpected(const source_span& where, std::string message) {
  const bool at_end = current_.kind == token_kind::end_of_file;
  return at_end ? report_.error_at_end(where, std::move(message)) : report_.error(where, std::move(message));
}

void parser::fail() {
  // An invalid token was reported by the lexer.
  if (current_.kind == token_kind::invalid) throw syntax_error();
  if (lacks_dot()) {
    const source_span end_of_clause{last_span_.file, last_span_.end, last_span_.end};
    report_unexpected(end_of_clause, "syntax error, missing . at the end of the clause")
        .note(current_.span,
              current_.kind == token_kind::end_of_file ? "The program ends here" : "The next one begins here");
    item_follows_ = true;
    throw syntax_error();
  }
  // As many alternatives as Soufflé names.
  constexpr std::size_t max_named = 4;
  std::string message = "syntax error, unexpected ";
  message += readable_name(current_.kind);
  if (expected_.size() <= max_named) {
    std::sort(expected_.begin(), expected_.end());
    for (std::size_t number = 0; number < expected_.size(); ++number) {
      message += number == 0 ? ", expecting " : " or ";
      message += readable_name(expected_[number]);
    }
  }
  auto& error = report_unexpected(current_.span, message);
  const unexpected_place place{current_.kind,
                               current_.span,
                               taken_ > 0 ? last_span_ : source_span(),
                               taken_ == taken_before_item_,
                               may_be(token_kind::if_),
                               may_be(token_kind::comma) || may_be(token_kind::semicolon) || may_be(token_kind::plus),
                               expected_.size() == 1 && may_be(token_kind::colon)};
  if (lacks_closing()) error.note(open_.back().where, "This " + std::string(open_.back().text()) + " is not closed");
  if (std::string hint = hint_at(place); !hint.empty()) error.note(std::move(hint));
  throw syntax_error();
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
  if (current_.kind != token_kind::identifier || current_.span.file != item_begin_.file) return false;
  // A literal may stand on a line of its own, too, but further to the right than its clause.
  const source_position here = current_.span.file->position(current_.span.begin);
  const source_position begin = item_begin_.file->position(item_begin_.begin);
  const source_position last = last_span_.file->position(last_span_.end);
  return here.line != last.line && here.column <= begin.column;
}

void parser::too_deep(std::uint32_t limit) {
  needs_deep_stack_ = true;
  report_.error(current_.span, "expression is nested too deeply: the limit is " + std::to_string(limit) + " levels");
  throw syntax_error();
}

identifier parser::expect_identifier() {
  token name = expect(token_kind::identifier);
  return {std::move(name.text), name.span};
}

qualified_name parser::expect_qualified_name() { return qualified_name_from(expect(token_kind::identifier)); }

qualified_name parser::qualified_name_from(token first) {
  qualified_name result{std::move(first.text), first.span};
  while (accept(token_kind::dot)) {
    result.text += '.';
    result.text += expect(token_kind::identifier).text;
    result.span = since(result.span);
  }
  return result;
}

void parser::items(std::vector<item>& out, bool in_component) {
  const std::int64_t braces_around = braces_open_;
  while (current_.kind != token_kind::end_of_file && !(in_component && current_.kind == token_kind::right_brace)) {
    if (report_.error_count() >= max_errors || given_up_) return;
    const std::size_t before = taken_;
    braces_open_ = braces_around;
    try {
      one_item(out, in_component);
    } catch (const syntax_error&) {
      if (std::exchange(item_follows_, false) && taken_ > before) continue;
      // An unknown directive, or a comment of another language.
      if (taken_ == before && (current_.kind == token_kind::dot || current_.kind == token_kind::percent)) {
        skip_line();
        continue;
      }
      // A token that begins no item has to be passed.
      if (taken_ == before && current_.kind != token_kind::end_of_file) take();
      recover(in_component, braces_around);
    }
  }
  warn_of_unattached(current_.kind == token_kind::end_of_file ? "at end of file" : "at end of the component");
}

void parser::one_item(std::vector<item>& out, bool in_component) {
  annotations();
  expected_.clear();
  taken_before_item_ = taken_;
  item_begin_ = current_.span;
  open_.clear();
  switch (current_.kind) {
    case token_kind::end_of_file:
      return;
    case token_kind::right_brace:
      if (in_component) return;
      break;
    case token_kind::identifier:
      out.push_back(rule());
      return;
    case token_kind::directive_decl:
      out.push_back({relation()});
      return;
    case token_kind::directive_type:
      out.push_back({type()});
      return;
    case token_kind::directive_number_type:
      out.push_back({deprecated_type("number")});
      return;
    case token_kind::directive_symbol_type:
      out.push_back({deprecated_type("symbol")});
      return;
    case token_kind::directive_lattice:
      out.push_back({lattice()});
      return;
    case token_kind::directive_input:
      out.push_back({directive(directive_kind::input)});
      return;
    case token_kind::directive_output:
      out.push_back({directive(directive_kind::output)});
      return;
    case token_kind::directive_printsize:
      out.push_back({directive(directive_kind::printsize)});
      return;
    case token_kind::directive_limitsize:
      out.push_back({directive(directive_kind::limitsize)});
      return;
    case token_kind::directive_comp:
      out.push_back({component()});
      return;
    case token_kind::directive_init:
      out.push_back({instance()});
      return;
    case token_kind::directive_functor:
      if (in_component) break;
      out.push_back({functor_signature()});
      return;
    case token_kind::directive_pragma:
      if (in_component) break;
      out.push_back({pragma()});
      return;
    case token_kind::directive_override:
      if (!in_component) break;
      out.push_back({override_of()});
      return;
    default:
      break;
  }
  fail();
}

void parser::recover(bool in_component, std::int64_t braces_around) {
  expected_.clear();
  while (true) {
    switch (current_.kind) {
      case token_kind::end_of_file:
        return;
      case token_kind::dot:
        take();
        skip_plan();
        return;
      case token_kind::right_brace:
        // Of the component under way; elsewhere one too many, or the end of an aggregate that was not understood.
        if (in_component && braces_open_ <= braces_around) return;
        break;
      case token_kind::directive_plan:
      case token_kind::invalid:
        break;
      default:
        if (is_directive(current_.kind)) return;
        break;
    }
    if (report_.error_count() >= max_errors || given_up_) return;
    take();
  }
}

void parser::skip_plan() {
  if (current_.kind != token_kind::directive_plan) return;
  const auto is_part = [](token_kind kind) {
    return kind == token_kind::number || kind == token_kind::colon || kind == token_kind::comma ||
           kind == token_kind::left_parenthesis || kind == token_kind::right_parenthesis;
  };
  do {
    take();
  } while (is_part(current_.kind));
}

void parser::skip_line() {
  const auto line_of = [](const source_span& span) { return span.file->physical_line(span.begin); };
  std::int64_t open = 0;
  do {
    const token_kind passed = take().kind;
    if (passed == token_kind::left_parenthesis || passed == token_kind::left_brace) ++open;
    if (passed == token_kind::right_parenthesis || passed == token_kind::right_brace) --open;
    if (current_.kind == token_kind::end_of_file) return;
    if (current_.kind == token_kind::right_brace && open == 0) return;
  } while (open > 0 || (current_.span.file == last_span_.file && line_of(current_.span) == line_of(last_span_)));
}

void parser::annotations() {
  while (current_.kind == token_kind::at && next_token().kind == token_kind::left_bracket) {
    std::vector<token> found = std::move(unattached_);
    found.push_back(take());
    annotation_body(std::move(found));
  }
}

void parser::warn_of_unattached(const std::string& where) {
  for (const token& each : unattached_) {
    const bool is_comment = each.kind == token_kind::doc_comment;
    warn(each.span, (is_comment ? "doc comment found " : "annotation found ") + where + ", not attached to anything",
         is_comment ? warning_kind::useless_doc_comment : warning_kind::useless_annotation);
  }
  unattached_.clear();
}

void parser::inner_annotations() {
  while (current_.kind == token_kind::at_not) {
    take();
    annotation_body({});
  }
}

/// `[ name ]`, `[ name = tokens ]`, `[ name (tokens) ]`: without meaning for evaluation.
void parser::annotation_body(std::vector<token> annotations) {
  expect(token_kind::left_bracket);
  if (current_.kind != token_kind::identifier && !is_word(current_.kind)) {
    at(token_kind::identifier);
    fail();
  }
  take();
  while (!at(token_kind::right_bracket)) skip_balanced();
  take(std::move(annotations));
}

/// One token, or all between two brackets that belong together.
void parser::skip_balanced() {
  std::vector<token_kind> open;
  do {
    switch (current_.kind) {
      case token_kind::left_parenthesis:
        open.push_back(token_kind::right_parenthesis);
        break;
      case token_kind::left_bracket:
        open.push_back(token_kind::right_bracket);
        break;
      case token_kind::left_brace:
        open.push_back(token_kind::right_brace);
        break;
      case token_kind::right_parenthesis:
      case token_kind::right_bracket:
      case token_kind::right_brace:
        if (open.empty() || open.back() != current_.kind) fail();
        open.pop_back();
        break;
      case token_kind::end_of_file:
      case token_kind::invalid:
        fail();
      default:
        break;
    }
    take();
  } while (!open.empty());
}

gpulog::syntax::component parser::component() {
  const source_span begin = take().span;
  gpulog::syntax::component result;
  if (components_open_ >= max_component_depth) {
    report_.error(begin, "components are nested too deeply: the limit is " + std::to_string(max_component_depth));
    given_up_ = true;
    throw syntax_error();
  }
  try {
    result.type = component_reference();
    while (at(token_kind::colon) || at(token_kind::comma)) {
      take();
      result.bases.push_back(component_reference());
    }
    if (!at(token_kind::left_brace)) fail();
  } catch (const syntax_error&) {
    // The body is read nevertheless, for its braces to be matched.
    while (current_.kind != token_kind::left_brace) {
      if (current_.kind == token_kind::end_of_file || current_.kind == token_kind::dot || is_directive(current_.kind)) {
        throw;
      }
      take();
    }
  }
  take();
  const source_span body{last_span_.file, last_span_.end, last_span_.end};
  inner_annotations();
  ++components_open_;
  items(result.items, true);
  --components_open_;
  if (current_.kind == token_kind::end_of_file && !given_up_) {
    report_.error_at_end(body, "unterminated component, missing '}'");
    report_.error(current_.span, "syntax error, unexpected end of input");
    given_up_ = true;
    throw syntax_error();
  }
  if (current_.kind == token_kind::right_brace) take();
  result.span = since(begin);
  return result;
}

}  // namespace gpulog::syntax
