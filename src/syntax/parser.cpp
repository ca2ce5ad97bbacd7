#include "syntax/parser.hpp"

#include <utility>

#include "syntax/parser_state.hpp"

namespace gpulog::syntax {

namespace {

/// The parser stops after this many errors.
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
    explain_unknown_names();
    return std::nullopt;
  }
}

program parser::run() {
  program result;
  items(result.items, false);
  explain_unknown_names();
  result.needs_deep_stack = needs_deep_stack_;
  result.may_have_text_tests = may_have_text_tests_;
  return result;
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

token parser::take_annotated() {
  expected_.reset();
  ++taken_;
  note_brackets();
  note_for_hints();
  last_span_ = current_.span;
  last_kind_ = current_.kind;
  token taken = std::move(current_);
  advance();
  if (taken.kind == token_kind::semicolon && is_on_next_line_of_item()) item_.last_semicolon = taken.span;
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

void parser::note_for_hints() {
  if (is_word(current_.kind)) item_.words.push_back(current_.kind);
  const bool may_be_long = current_.kind == token_kind::string && current_.span.valid() &&
                           current_.text.find('\n') != std::string_view::npos;
  if (!may_be_long) return;
  const source_file& file = *current_.span.file;
  if (file.physical_line(current_.span.begin) != file.physical_line(current_.span.end))
    item_.long_symbol = current_.span;
}

void parser::advance() {
  current_ = tokens_.take();
  for (const token& aside : tokens_.asides()) {
    if (aside.kind == token_kind::include_begins) warn_of_unattached("before '.include'");
    if (aside.kind == token_kind::include_ends) warn_of_unattached("at end of included file");
    if (aside.kind == token_kind::doc_comment) unattached_.push_back(aside);
  }
}

identifier parser::expect_identifier() {
  token name = expect(token_kind::identifier);
  return {std::string(name.text), name.span};
}

qualified_name parser::expect_qualified_name() { return qualified_name_from(expect(token_kind::identifier)); }

qualified_name parser::qualified_name_from(token first) {
  qualified_name result{std::string(first.text), first.span};
  while (at(token_kind::dot) && !is_before_clause()) {
    take();
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
    // The last item may explain an error.
    if (!options_.keeps_items && out.size() > 1) out.erase(out.begin(), out.end() - 1);
    const std::size_t before = taken_;
    braces_open_ = braces_around;
    try {
      one_item(out, in_component);
    } catch (const syntax_error&) {
      if (std::exchange(item_follows_, false) && taken_ > before) continue;
      if (taken_ == before && is_end_mark()) {
        take();
        continue;
      }
      // An unknown directive, or a comment of another language.
      if (taken_ == before && (current_.kind == token_kind::dot || current_.kind == token_kind::percent)) {
        skip_line();
        continue;
      }
      // Skips a token that starts no item.
      if (taken_ == before && current_.kind != token_kind::end_of_file) take();
      recover(in_component, braces_around);
    }
  }
  warn_of_unattached(current_.kind == token_kind::end_of_file ? "at end of file" : "at end of the component");
}

void parser::one_item(std::vector<item>& out, bool in_component) {
  annotations();
  expected_.reset();
  taken_before_item_ = taken_;
  item_ = {current_.kind, current_.span, flags_after(out)};
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
  expected_.reset();
  while (true) {
    switch (current_.kind) {
      case token_kind::end_of_file:
        return;
      case token_kind::dot:
        if (!ends_clause()) break;
        take();
        skip_plan();
        return;
      case token_kind::right_brace:
        // The end of the current component; elsewhere an extra brace, or the end of an aggregate with an error.
        if (in_component && braces_open_ <= braces_around) return;
        break;
      case token_kind::directive_plan:
      case token_kind::invalid:
        break;
      default:
        if (is_directive(current_.kind)) return;
        if (is_directive(item_.kind) && current_.kind == token_kind::identifier && is_on_next_line_of_item()) return;
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

/// `[ name ]`, `[ name = tokens ]`, `[ name (tokens) ]`: no effect on evaluation.
void parser::annotation_body(std::vector<token> annotations) {
  expect(token_kind::left_bracket);
  if (current_.kind != token_kind::identifier && !is_word(current_.kind)) {
    at(token_kind::identifier);
    fail();
  }
  take();
  while (!at(token_kind::right_bracket)) skip_balanced();
  unattached_ = std::move(annotations);
  take_annotated();
}

/// Skips one token, or everything between two matching brackets.
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
    // Reads the body anyway, to match its braces.
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
