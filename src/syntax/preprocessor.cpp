#include "syntax/preprocessor.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/error.hpp"
#include "syntax/condition.hpp"
#include "syntax/hints.hpp"
#include "syntax/lexer.hpp"
#include "syntax/macros.hpp"
#include "syntax/physical_lines.hpp"
#include "syntax/token_stream.hpp"

namespace gpulog::syntax {

namespace {

/// Files that include further files several times can grow exponentially.
constexpr std::size_t max_included_files = 10'000;
constexpr std::size_t max_output_bytes = std::size_t{1} << 30;

/// Always defined, in the order of predefined_values().
constexpr std::array<std::string_view, 3> predefined_names = {"RAM_DOMAIN_SIZE", "__DATE__", "__TIME__"};

std::array<std::string, 3> predefined_values(std::uint32_t word_bits) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  const auto quoted_time = [&local](const char* format) {
    std::array<char, 32> text{};
    return std::string(text.data(), std::strftime(text.data(), text.size(), format, &local));
  };
  return {std::to_string(word_bits), quoted_time("\"%b %e %Y\""), quoted_time("\"%H:%M:%S\"")};
}

/// The tokens of a file from a position on, across lines and comments.
class file_input final : public macro_input {
 public:
  file_input(std::string_view text, std::size_t at) : text_(text), end_(at) {}

  const macro_token* peek() override {
    if (peeked_) return at_end_ ? nullptr : &token_;
    peeked_ = true;
    std::size_t at = end_;
    bool space = false;
    while (at < text_.size()) {
      const std::size_t comment_end = end_of_comment(text_, at);
      const std::size_t splice = line_splice(text_, at);
      if (comment_end > at) {
        at = comment_end;
      } else if (splice > 0) {
        at += splice;
      } else if (is_line_space(text_[at]) || text_[at] == '\n') {
        ++at;
      } else {
        break;
      }
      space = true;
    }
    at_end_ = at >= text_.size();
    if (at_end_) return nullptr;
    token_end_ = end_of_macro_token(text_, at);
    const std::string_view spelled_token = text_.substr(at, token_end_ - at);
    token_ = {kind_of_macro_token(spelled_token), std::string(spelled_token), space, false};
    return &token_;
  }

  void advance() override {
    end_ = token_end_;
    peeked_ = false;
  }

  /// Returns the position after the last taken token.
  [[nodiscard]] std::size_t position() const { return end_; }

 private:
  std::string_view text_;
  std::size_t end_;
  std::size_t token_end_ = 0;
  macro_token token_;
  bool peeked_ = false;
  bool at_end_ = false;
};

class preprocessor {
 public:
  preprocessor(source_manager& sources, diagnostics& report, const parse_options& options)
      : sources_(sources), report_(report), options_(options) {
    const auto ignore = [](const std::string&) {};
    const auto values = predefined_values(options.word_bits);
    for (std::size_t number = 0; number < values.size(); ++number) {
      macros_.define(std::string(predefined_names[number]) + " " + values[number], ignore);
    }
    for (const std::string& given : options.macros) {
      std::string definition = given;
      const std::size_t equals = definition.find('=');
      if (equals == std::string::npos) {
        definition += " 1";
      } else {
        definition[equals] = ' ';
      }
      macros_.define(definition, [this, &given](const std::string& message) {
        report_.error("in the macro given as \"" + given + "\": " + message);
      });
    }
  }

  mapped_text run(source_file& file) {
    process(file);
    if (out_.text().empty()) {
      // A byte for messages about the end to refer to.
      const auto size = static_cast<std::uint32_t>(file.text().size());
      out_.append_replacement("\n", {&file, size == 0 ? 0 : size - 1, size});
    }
    return std::move(out_);
  }

 private:
  /// An open #if.
  struct condition {
    source_span span;
    bool active;      ///< whether text is active now
    bool was_active;  ///< whether one of the branches was active
    bool enclosing;   ///< whether the surrounding text is active
    bool seen_else = false;
  };

  /// A file being read.
  struct position {
    source_file& file;
    std::string_view text;
    std::size_t at = 0;
    std::size_t copied = 0;  ///< earlier text has been written or dropped
    std::vector<condition> conditions{};

    [[nodiscard]] source_span span(std::size_t begin, std::size_t end) const {
      return {&file, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
    }
    [[nodiscard]] bool skipping() const { return !conditions.empty() && !conditions.back().active; }
  };

  void process(source_file& file) {
    position here{file, file.text()};
    while (here.at < here.text.size() && !given_up()) {
      const std::size_t first = skip_line_space(here.text, here.at);
      if (first < here.text.size() && here.text[first] == '#') {
        directive(here, first);
      } else if (here.skipping()) {
        skip_line(here);
      } else {
        text_line(here);
      }
    }
    copy_up_to(here, here.skipping() ? here.copied : here.at);
    for (const condition& open : here.conditions) report_.error_at_end(open.span, "unterminated #if");
  }

  /// After a limit is exceeded, only a stub of the program would be parsed.
  [[nodiscard]] bool given_up() const { return too_large_ || macros_.exhausted(); }

  void copy_up_to(position& here, std::size_t end) {
    if (end > here.copied) {
      out_.append_verbatim(here.file, static_cast<std::uint32_t>(here.copied), static_cast<std::uint32_t>(end));
      here.copied = end;
    }
    if (out_.text().size() > max_output_bytes && !std::exchange(too_large_, true)) {
      report_.error(here.span(end, end), "the program with included files and macros has more than 1 GiB");
    }
  }

  static void skip_line(position& here) {
    while (here.at < here.text.size() && here.text[here.at] != '\n') {
      const std::size_t comment_end = end_of_comment(here.text, here.at);
      here.at = comment_end > here.at ? comment_end : end_of_constant(here.text, here.at);
    }
    if (here.at < here.text.size()) ++here.at;
    here.copied = here.at;
  }

  void text_line(position& here) {
    while (here.at < here.text.size()) {
      const char c = here.text[here.at];
      const std::size_t comment_end = end_of_comment(here.text, here.at);
      if (comment_end > here.at) {
        drop_splices(here, comment_end, c == '/' && here.text[here.at + 1] == '/');
      } else if (const std::size_t splice = line_splice(here.text, here.at); splice > 0) {
        drop_splices(here, here.at + splice);
      } else if (c == '\n') {
        ++here.at;
        return;
      } else if (is_macro_name_start(c)) {
        name(here);
      } else {
        drop_splices(here, end_of_macro_token(here.text, here.at));
      }
    }
  }

  /// Advances to `end`; joins lines that end with a backslash, or drops the text.
  void drop_splices(position& here, std::size_t end, bool drop_all = false) {
    const std::string_view token = here.text.substr(0, end);
    for (std::size_t at = here.at; (at = find_line_splice(token, at)) != std::string_view::npos;) {
      copy_up_to(here, drop_all ? here.at : at);
      here.copied = at = drop_all ? end : at + line_splice(token, at);
    }
    here.at = end;
  }

  void name(position& here) {
    const std::size_t begin = here.at;
    const std::size_t end = end_of_macro_token(here.text, begin);
    const std::string_view text = here.text.substr(begin, end - begin);
    here.at = end;
    if (!macros_.has_definition(text)) return;
    file_input input(here.text, end);
    const macro_token token{macro_token::kind::identifier, std::string(text), false, false};
    const auto expanded = macros_.expand(token, input, error_at(here.span(begin, end)));
    if (!expanded) return;
    copy_up_to(here, begin);
    std::string replacement = spelled(*expanded);
    // The expansion must not merge with adjacent words.
    if (!replacement.empty()) {
      const auto is_part = [](char c) { return is_identifier_part(c); };
      const std::string_view before = out_.text();
      if (!before.empty() && is_part(before.back()) && before.back() != '?' && is_part(replacement.front())) {
        replacement.insert(replacement.begin(), ' ');
      }
      const std::size_t behind = input.position();
      if (behind < here.text.size() && is_part(here.text[behind]) && is_part(replacement.back())) replacement += ' ';
    }
    out_.append_replacement(replacement, here.span(begin, input.position()));
    here.at = here.copied = input.position();
  }

  macro_table::error_function error_at(const source_span& span) {
    return [this, span](const std::string& message) { report_.error(span, message); };
  }

  /// Reads the directive's line, including continuations, as one text without comments.
  static std::string logical_line(position& here, std::size_t hash) {
    std::string line;
    std::size_t at = hash + 1;
    while (at < here.text.size() && here.text[at] != '\n') {
      const std::size_t comment_end = end_of_comment(here.text, at);
      if (const std::size_t splice = line_splice(here.text, at); splice > 0) {
        at += splice;
      } else if (comment_end > at) {
        at = comment_end;
        line += ' ';
      } else {
        // A constant hides comments.
        const std::size_t end = end_of_constant(here.text, at);
        line += here.text.substr(at, end - at);
        at = end;
      }
    }
    here.at = at < here.text.size() ? at + 1 : at;
    return line;
  }

  void directive(position& here, std::size_t hash) {
    if (!here.skipping()) copy_up_to(here, here.at);
    const std::string line = logical_line(here, hash);
    here.copied = here.at;
    std::size_t end = here.at;
    while (end > hash + 1 && (here.text[end - 1] == '\n' || here.text[end - 1] == '\r')) --end;
    const source_span span = here.span(hash, end);

    std::size_t name_begin = 0;
    while (name_begin < line.size() && is_line_space(line[name_begin])) ++name_begin;
    std::size_t name_end = name_begin;
    while (name_end < line.size() && is_macro_name_part(line[name_end])) ++name_end;
    const std::string_view directive_name = std::string_view(line).substr(name_begin, name_end - name_begin);
    std::string_view rest = std::string_view(line).substr(name_end);
    while (!rest.empty() && is_line_space(rest.front())) rest.remove_prefix(1);
    while (!rest.empty() && is_line_space(rest.back())) rest.remove_suffix(1);

    if (conditional(here, directive_name, rest, span) || here.skipping()) return;
    plain(here, directive_name, rest, span, line);
  }

  /// Handles #if and related directives; returns false for any different directive.
  bool conditional(position& here, std::string_view name, std::string_view rest, const source_span& span) {
    std::vector<condition>& conditions = here.conditions;
    const auto holds = [&] {
      const std::uint32_t line = here.file.position(span.begin).line;
      return evaluate_condition(macro_tokens(rest), macros_, line, error_at(span)).value_or(0) != 0;
    };
    if (name == "if" || name == "ifdef" || name == "ifndef") {
      const bool enclosing = !here.skipping();
      bool active = false;
      if (enclosing) {
        active = name == "if" ? holds() : macros_.is_defined(first_word(rest)) == (name == "ifdef");
        if (name != "if" && first_word(rest).empty()) {
          report_.error(span, "no macro name given in #" + std::string(name));
        }
      }
      conditions.push_back({span, active, active, enclosing});
      return true;
    }
    if (name != "elif" && name != "else" && name != "endif") return false;
    if (conditions.empty()) {
      report_.error(span, "#" + std::string(name) + " without #if");
      return true;
    }
    condition& open = conditions.back();
    if (name == "endif") {
      conditions.pop_back();
    } else if (open.seen_else) {
      report_.error(span, "#" + std::string(name) + " after #else");
    } else {
      open.seen_else = name == "else";
      open.active = open.enclosing && !open.was_active && (open.seen_else || holds());
      open.was_active = open.was_active || open.active;
    }
    return true;
  }

  static std::string_view first_word(std::string_view text) {
    std::size_t end = 0;
    while (end < text.size() && is_macro_name_part(text[end])) ++end;
    return text.substr(0, end);
  }

  void plain(position& here, std::string_view name, std::string_view rest, const source_span& span,
             const std::string& line) {
    if (name == "define") {
      macros_.define(rest, error_at(span));
    } else if (name == "undef") {
      macros_.undefine(first_word(rest));
    } else if (name == "include") {
      include(here, rest, span);
    } else if (name == "error") {
      report_.error(span, "#error " + std::string(rest));
    } else if (name == "warning") {
      report_.warning(span, "#warning " + std::string(rest));
    } else if (name == "pragma") {
      if (rest == "once") once_.insert(sources_.identity(here.file.path()));
    } else if (const line_marker marker = parse_line_marker(line); marker.valid) {
      here.file.add_line_directive(span.end, marker.line, marker.path);
    } else if (!name.empty() || !rest.empty()) {
      report_.error(span, "invalid preprocessing directive #" + std::string(name)).note(hint_about_comments());
    }
  }

  void include(position& here, std::string_view rest, const source_span& span) {
    std::string expanded;
    if (!rest.starts_with('"') && !rest.starts_with('<')) {
      expanded = spelled(macros_.expand_all(macro_tokens(rest), error_at(span)));
      rest = expanded;
    }
    const char close = rest.starts_with('<') ? '>' : '"';
    const std::size_t end = rest.size() < 2 ? std::string_view::npos : rest.find(close, 1);
    if ((!rest.starts_with('<') && !rest.starts_with('"')) || end == std::string_view::npos) {
      report_.error(span, "#include expects \"FILENAME\" or <FILENAME>");
      return;
    }
    const std::string wanted(rest.substr(1, end - 1));
    const std::string path = options_.allow_include
                                 ? find_include(wanted, here.file, sources_, options_.include_directories)
                                 : std::string();
    if (path.empty()) {
      report_.error(span, "cannot find include file \"" + wanted + "\"");
      return;
    }
    if (once_.contains(sources_.identity(path))) return sources_.pass_over(path);
    if (depth_ >= max_include_depth || ++included_files_ > max_included_files) {
      report_.error(span, "#include nested too deeply: file \"" + wanted + "\" seems to include itself");
      too_large_ = true;
      return;
    }
    try {
      source_file& file = sources_.load(path, span);
      ++depth_;
      process(file);
      --depth_;
      out_.append_replacement("\n", span);
    } catch (const user_error&) {
      report_.error(span, "cannot read file " + path);
    }
  }

  source_manager& sources_;
  diagnostics& report_;
  const parse_options& options_;
  macro_table macros_;
  mapped_text out_;
  std::set<std::string> once_;
  std::size_t depth_ = 0;
  std::size_t included_files_ = 0;
  bool too_large_ = false;
};

}  // namespace

bool needs_preprocessing(const source_file& file, const parse_options& options) {
  const auto has = [&file](std::string_view name) { return file.text().find(name) != std::string_view::npos; };
  return !options.macros.empty() || has("#") || std::any_of(predefined_names.begin(), predefined_names.end(), has) ||
         find_line_splice(file.text()) != std::string_view::npos;
}

mapped_text preprocess(source_file& file, source_manager& sources, diagnostics& report, const parse_options& options) {
  return preprocessor(sources, report, options).run(file);
}

}  // namespace gpulog::syntax
