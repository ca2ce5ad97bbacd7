#include "syntax/macros.hpp"

#include <algorithm>
#include <utility>

#include "syntax/lexer.hpp"

namespace gpulog::syntax {

namespace {

// In bytes plus tokens. A call of a typical macro produces a few kilobytes, a text of macros a few hundred megabytes.
constexpr std::size_t max_size_of_call = std::size_t{1} << 22;
constexpr std::size_t max_size_in_all = std::size_t{1} << 29;
constexpr std::uint32_t max_depth = 100;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' || c == '\n'; }

std::string stringified(const std::vector<macro_token>& tokens) {
  std::string result = "\"";
  for (const macro_token& token : tokens) {
    if (token.space_before && result.size() > 1) result += ' ';
    for (const char c : token.text) {
      if (token.what == macro_token::kind::string && (c == '"' || c == '\\')) result += '\\';
      result += c;
    }
  }
  return result + '"';
}

class list_input final : public macro_input {
 public:
  explicit list_input(const std::vector<macro_token>& tokens) : tokens_(tokens) {}
  const macro_token* peek() override { return at_ < tokens_.size() ? &tokens_[at_] : nullptr; }
  void advance() override { ++at_; }

 private:
  const std::vector<macro_token>& tokens_;
  std::size_t at_ = 0;
};

}  // namespace

bool is_macro_name_start(char c) { return is_identifier_start(c) && c != '?'; }
bool is_macro_name_part(char c) { return is_identifier_part(c) && c != '?'; }

std::size_t end_of_macro_token(std::string_view text, std::size_t begin) {
  std::size_t end = begin + 1;
  const char first = text[begin];
  if (is_macro_name_start(first)) {
    while (end < text.size() && is_macro_name_part(text[end])) ++end;
  } else if (is_digit(first)) {
    while (end < text.size() &&
           (is_macro_name_part(text[end]) || (text[end] == '.' && end + 1 < text.size() && is_digit(text[end + 1])))) {
      ++end;
    }
  } else if (first == '"') {
    for (; end < text.size(); ++end) {
      if (text[end] == '"') return end + 1;
      if (text[end] == '\\') ++end;
    }
    return begin + 1;  // not closed: a single quote character
  } else if (first == '\'') {
    // One character, or an escape sequence: "'a'", "'\n'", "'\x41'".
    if (end < text.size() && text[end] == '\\') {
      for (end += 2; end < text.size() && is_macro_name_part(text[end]);) ++end;
    } else {
      ++end;
    }
    return end < text.size() && text[end] == '\'' && text[begin + 1] != '\'' ? end + 1 : begin + 1;
  } else if (first == '#' && end < text.size() && text[end] == '#') {
    ++end;
  }
  return end;
}

macro_token::kind kind_of_macro_token(std::string_view token) {
  if (is_macro_name_start(token.front())) return macro_token::kind::identifier;
  if (is_digit(token.front())) return macro_token::kind::number;
  if (token.size() > 1 && token.front() == '"') return macro_token::kind::string;
  if (token.size() > 1 && token.front() == '\'') return macro_token::kind::character;
  return macro_token::kind::punctuation;
}

std::vector<macro_token> macro_tokens(std::string_view text) {
  std::vector<macro_token> result;
  bool space = false;
  for (std::size_t at = 0; at < text.size();) {
    if (is_space(text[at])) {
      space = true;
      ++at;
      continue;
    }
    const std::size_t end = end_of_macro_token(text, at);
    const std::string_view token = text.substr(at, end - at);
    result.push_back({kind_of_macro_token(token), std::string(token), std::exchange(space, false), false});
    at = end;
  }
  return result;
}

std::string spelled(const std::vector<macro_token>& tokens) {
  std::string result;
  for (const macro_token& token : tokens) {
    if (token.text.empty()) continue;
    if (token.space_before && !result.empty()) result += ' ';
    result += token.text;
  }
  return result;
}

bool macro_table::define(std::string_view definition, const error_function& error) {
  std::size_t at = 0;
  while (at < definition.size() && is_macro_name_part(definition[at])) ++at;
  if (at == 0 || is_digit(definition.front())) {
    error("macro names must be identifiers");
    return false;
  }
  macro made;
  made.name = definition.substr(0, at);
  if (made.name == "defined") {
    error("\"defined\" cannot be used as a macro name");
    return false;
  }
  std::vector<macro_token> rest = macro_tokens(definition.substr(at));
  std::size_t used = 0;
  if (at < definition.size() && definition[at] == '(') {
    made.takes_arguments = true;
    const auto malformed = [&] {
      error("malformed parameter list of macro \"" + made.name + "\"");
      return false;
    };
    const auto is = [&rest](std::size_t number, std::string_view text) {
      return number < rest.size() && rest[number].is(text);
    };
    used = 1;
    bool more = !is(used, ")");
    while (more) {
      if (is(used, ".") && is(used + 1, ".") && is(used + 2, ".")) {
        made.variadic = true;
        made.parameters.emplace_back("__VA_ARGS__");
        used += 3;
      } else if (used < rest.size() && rest[used].what == macro_token::kind::identifier) {
        const std::string& name = rest[used].text;
        if (std::find(made.parameters.begin(), made.parameters.end(), name) != made.parameters.end()) {
          error("duplicate macro parameter \"" + name + "\"");
          return false;
        }
        made.parameters.push_back(name);
        ++used;
      } else {
        return malformed();
      }
      more = is(used, ",") && !made.variadic;
      if (more) ++used;
    }
    if (!is(used, ")")) return malformed();
    ++used;
  }
  made.body.assign(std::make_move_iterator(rest.begin() + static_cast<std::ptrdiff_t>(used)),
                   std::make_move_iterator(rest.end()));
  if (!made.body.empty()) {
    made.body.front().space_before = false;
    if (made.body.front().is("##") || made.body.back().is("##")) {
      error("\"##\" cannot appear at either end of a macro expansion");
      return false;
    }
  }
  std::string name = made.name;
  macros_.insert_or_assign(std::move(name), std::move(made));
  return true;
}

void macro_table::undefine(std::string_view name) {
  const auto found = macros_.find(name);
  if (found != macros_.end()) macros_.erase(found);
}

bool macro_table::charge(std::size_t size, const error_function& error) {
  spent_ += size + 1;
  if (exhausted_) return false;
  if (spent_ - spent_at_call_ <= max_size_of_call && spent_ <= max_size_in_all) return true;
  exhausted_ = true;
  error("macro expansion grows too large");
  return false;
}

/// The lists under expansion, innermost last, followed by the input.
struct macro_table::context {
  std::vector<macro_token> tokens;
  std::size_t at = 0;
  macro* expanded = nullptr;
};

/// The expansion of one name, including nested expansions.
class macro_table::expansion {
 public:
  expansion(macro_table& table, macro_input& input, const error_function& error)
      : table_(table), input_(input), error_(error) {}
  expansion(const expansion&) = delete;
  expansion& operator=(const expansion&) = delete;
  ~expansion() {
    while (!contexts_.empty()) leave();
  }

  void run(const macro_token& name, std::vector<macro_token>& out) {
    contexts_.push_back({{name}, 0, nullptr});
    while (!contexts_.empty() && !table_.exhausted_) {
      if (contexts_.back().at >= contexts_.back().tokens.size()) {
        leave();
        continue;
      }
      macro_token token = std::move(contexts_.back().tokens[contexts_.back().at++]);
      macro* called = token.what == macro_token::kind::identifier && !token.final ? find(token.text) : nullptr;
      if (called != nullptr && called->under_expansion) {
        token.final = true;
        called = nullptr;
      }
      if (called != nullptr && called->takes_arguments && !call_follows()) called = nullptr;
      if (called == nullptr) {
        if (table_.charge(token.text.size(), error_)) out.push_back(std::move(token));
        continue;
      }
      enter(*called, token);
    }
  }

 private:
  macro* find(const std::string& name) {
    const auto found = table_.macros_.find(name);
    return found == table_.macros_.end() ? nullptr : &found->second;
  }

  void leave() {
    if (contexts_.back().expanded != nullptr) contexts_.back().expanded->under_expansion = false;
    contexts_.pop_back();
  }

  const macro_token* peek() {
    while (!contexts_.empty() && contexts_.back().at >= contexts_.back().tokens.size()) leave();
    return contexts_.empty() ? input_.peek() : &contexts_.back().tokens[contexts_.back().at];
  }

  void advance() {
    if (contexts_.empty()) {
      input_.advance();
    } else {
      ++contexts_.back().at;
    }
  }

  bool call_follows() {
    const macro_token* next = peek();
    return next != nullptr && next->is("(");
  }

  void enter(macro& called, const macro_token& name) {
    std::vector<macro_token> replacement;
    if (called.takes_arguments) {
      auto given = read_arguments(called);
      if (given) given = table_.bind(called, std::move(*given), error_);
      if (!given) return;
      replacement = table_.substitute(called, *given, error_);
    } else {
      replacement = table_.substitute(called, {}, error_);
    }
    if (!replacement.empty()) replacement.front().space_before = name.space_before;
    called.under_expansion = true;
    contexts_.push_back({std::move(replacement), 0, &called});
  }

  std::optional<arguments> read_arguments(const macro& called) {
    advance();  // the parenthesis
    arguments result(1);
    for (std::size_t open = 1;;) {
      const macro_token* next = peek();
      if (next == nullptr) {
        error_("unterminated argument list of macro \"" + called.name + "\"");
        return std::nullopt;
      }
      macro_token token = *next;
      advance();
      if (!table_.charge(token.text.size(), error_)) return std::nullopt;
      if (token.is("(")) ++open;
      if (token.is(")") && --open == 0) return result;
      if (open == 1 && token.is(",")) {
        result.emplace_back();
      } else {
        result.back().push_back(std::move(token));
      }
    }
  }

  macro_table& table_;
  macro_input& input_;
  const error_function& error_;
  std::vector<context> contexts_;
};

std::optional<macro_table::arguments> macro_table::bind(const macro& called, arguments given,
                                                        const error_function& error) const {
  const std::size_t wanted = called.parameters.size();
  if (wanted == 0 && given.size() == 1 && given.front().empty()) given.clear();
  if (called.variadic && given.size() + 1 == wanted) given.emplace_back();
  if (called.variadic && given.size() > wanted) {
    std::vector<macro_token>& last = given[wanted - 1];
    for (std::size_t number = wanted; number < given.size(); ++number) {
      last.push_back({macro_token::kind::punctuation, ",", false, false});
      last.insert(last.end(), given[number].begin(), given[number].end());
    }
    given.resize(wanted);
  }
  if (given.size() != wanted) {
    error("macro \"" + called.name + "\" requires " + std::to_string(wanted) + " arguments, but " +
          std::to_string(given.size()) + " given");
    return std::nullopt;
  }
  return given;
}

std::vector<macro_token> macro_table::substitute(const macro& called, const arguments& given,
                                                 const error_function& error) {
  std::vector<macro_token> result;
  std::vector<std::optional<std::vector<macro_token>>> expanded(given.size());
  const auto parameter = [&called](const macro_token& token) -> std::optional<std::size_t> {
    if (token.what != macro_token::kind::identifier) return std::nullopt;
    const auto found = std::find(called.parameters.begin(), called.parameters.end(), token.text);
    if (found == called.parameters.end()) return std::nullopt;
    return static_cast<std::size_t>(found - called.parameters.begin());
  };
  const auto append = [&](const std::vector<macro_token>& tokens, bool space_before, bool paste) {
    bool first = true;
    for (const macro_token& token : tokens) {
      if (!charge(token.text.size(), error)) return;
      if (first && paste && !result.empty()) {
        macro_token& last = result.back();
        last.text += token.text;
        if (!last.text.empty()) last.what = kind_of_macro_token(last.text);
        last.final = false;
      } else {
        result.push_back(token);
        if (first) result.back().space_before = space_before;
      }
      first = false;
    }
  };
  const std::vector<macro_token>& body = called.body;
  for (std::size_t at = 0; at < body.size() && !exhausted_; ++at) {
    const bool paste = body[at].is("##");
    if (paste) ++at;
    const macro_token& token = body[at];
    if (called.takes_arguments && token.is("#") && at + 1 < body.size()) {
      if (const auto number = parameter(body[at + 1])) {
        append({{macro_token::kind::string, stringified(given[*number]), false, false}}, token.space_before, paste);
        ++at;
        continue;
      }
    }
    const auto number = parameter(token);
    if (!number) {
      append({token}, token.space_before, paste);
      continue;
    }
    const bool pasted_next = at + 1 < body.size() && body[at + 1].is("##");
    if (paste || pasted_next) {
      // An empty operand of ## counts as a token without text.
      if (given[*number].empty() && !paste) {
        append({{macro_token::kind::punctuation, "", false, false}}, token.space_before, false);
      }
      append(given[*number], token.space_before, paste);
      continue;
    }
    auto& list = expanded[*number];
    if (!list) expand_list(given[*number], list.emplace(), error);
    append(*list, token.space_before, false);
  }
  return result;
}

void macro_table::expand_list(const std::vector<macro_token>& tokens, std::vector<macro_token>& out,
                              const error_function& error) {
  if (depth_ >= max_depth) {
    if (!exhausted_) error("macro calls are nested too deeply");
    exhausted_ = true;
    return;
  }
  ++depth_;
  list_input input(tokens);
  while (const macro_token* next = exhausted_ ? nullptr : input.peek()) {
    const macro_token token = *next;
    input.advance();
    if (token.what == macro_token::kind::identifier && !token.final && has_definition(token.text)) {
      expansion(*this, input, error).run(token, out);
    } else if (charge(token.text.size(), error)) {
      out.push_back(token);
    }
  }
  --depth_;
}

std::optional<std::vector<macro_token>> macro_table::expand(const macro_token& name, macro_input& input,
                                                            const error_function& error) {
  const auto found = macros_.find(name.text);
  if (found == macros_.end() || exhausted_) return std::nullopt;
  if (found->second.takes_arguments) {
    const macro_token* next = input.peek();
    if (next == nullptr || !next->is("(")) return std::nullopt;
  }
  spent_at_call_ = spent_;
  std::vector<macro_token> result;
  expansion(*this, input, error).run(name, result);
  for (std::size_t number = 1; number < result.size(); ++number) {
    const std::string& left = result[number - 1].text;
    macro_token& right = result[number];
    if (left.empty() || right.text.empty()) continue;
    if (is_macro_name_part(left.back()) && is_macro_name_part(right.text.front())) right.space_before = true;
  }
  return result;
}

std::vector<macro_token> macro_table::expand_all(const std::vector<macro_token>& tokens, const error_function& error) {
  spent_at_call_ = spent_;
  std::vector<macro_token> result;
  expand_list(tokens, result, error);
  return result;
}

}  // namespace gpulog::syntax
