#include "cli/explain_session.hpp"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/line_text.hpp"
#include "cli/messages.hpp"
#include "cli/repl/line_editor.hpp"
#include "cli/repl/repl.hpp"
#include "gpulog/error.hpp"
#include "support/suggestion.hpp"

namespace gpulog::cli {
namespace {

constexpr std::size_t first_depth = 4;  ///< as in Soufflé
constexpr std::size_t most_depth = 500;
constexpr std::size_t most_proofs = 3;  ///< of matches of one question

/// Returns the width of the terminal; 100 for other outputs.
std::size_t output_columns() {
  constexpr std::size_t usual = 100;
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : usual;
}

std::optional<std::size_t> number_from(std::string_view text) {
  std::size_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Returns the rule with one literal of the body per line.
std::string laid_out(const std::string& rule) {
  std::string text;
  int depth = 0;
  bool is_quoted = false;
  for (std::size_t at = 0; at < rule.size(); ++at) {
    const char byte = rule[at];
    if (byte == '"' && (at == 0 || rule[at - 1] != '\\')) is_quoted = !is_quoted;
    if (!is_quoted && (byte == '(' || byte == '[' || byte == '{')) ++depth;
    if (!is_quoted && (byte == ')' || byte == ']' || byte == '}')) --depth;
    const std::string_view rest = std::string_view(rule).substr(at);
    const bool is_between = !is_quoted && depth == 0 && (rest.starts_with(":- ") || rest.starts_with(", "));
    text += byte;
    if (!is_between) continue;
    if (byte == ':') text += rule[++at];
    text += "\n  ";  // with the following blank, an indentation of 3
  }
  return text;
}

void collect_cuts(const proof& shown, std::vector<std::pair<std::string, std::string>>& cuts) {
  if (shown.what == proof::kind::cut) cuts.emplace_back(shown.relation, shown.text);
  for (const proof& premise : shown.premises) collect_cuts(premise, cuts);
}

class explain_session {
 public:
  explicit explain_session(engine& run) : run_(&run), is_terminal_(isatty(STDIN_FILENO) == 1) {
    if (!is_interactive()) return;
    for (const relation& one : run.relations()) names_.push_back(one.name());
    editor_.emplace(history_file("explain-history"), [this](std::string_view text) { return candidates_after(text); });
  }

  void read_commands() {
    while (!is_ended_) {
      const auto line = ask("Enter command > ", true);
      if (!line) continue;
      if (*line == "exit" || *line == "quit" || *line == "q") return;
      try {
        act(*line);
      } catch (const input_error& fault) {
        print(fmt::format("{}\n", fault.what()));
      }
    }
  }

 private:
  struct command {
    std::string_view name, argument, description;
    void (explain_session::*act)(const std::string& argument);
  };

  static const std::vector<command>& commands() {
    static const std::vector<command> all = {
        {"explain", "TUPLE", "why the relation contains the tuple", &explain_session::explain},
        {"subproof", "RELATION(N)", "continues a proof where it was cut", &explain_session::explain_part},
        {"setdepth", "N", "levels of a proof that are shown", &explain_session::set_depth},
        {"explainnegation", "TUPLE", "why the relation does not contain the tuple", &explain_session::explain_negation},
        {"query", "TUPLE, ...", "whether the relations contain the tuples, or values of the variables",
         &explain_session::query},
        {"rule", "RELATION N", "a rule of a relation", &explain_session::print_rule},
        {"format", "json|proof", "format of proofs", &explain_session::set_format},
        {"output", "[FILE]", "writes to a file; without a file again to standard output", &explain_session::set_output},
    };
    return all;
  }

  /// Returns the words that may follow the text in its line.
  [[nodiscard]] std::vector<std::string> candidates_after(std::string_view text) const {
    if (!trimmed(text).empty()) return names_;
    std::vector<std::string> words = {"exit", "quit"};
    for (const command& known : commands()) words.push_back(std::string(known.name) + " ");
    return words;
  }

  /// Returns the next line of input; nothing at the end of the input, and for a line that Ctrl-C discards. Prints the
  /// question only on a terminal.
  std::optional<std::string> ask(const std::string& question, bool is_command = false) {
    if (editor_) {
      std::fflush(stdout);
      const line_editor::input line = editor_->read(question, is_command);
      is_ended_ = line.what == line_editor::event::end;
      if (is_ended_) fmt::print("\n");
      return line.what == line_editor::event::line ? std::optional(trimmed(line.text)) : std::nullopt;
    }
    if (is_terminal_) fmt::print("{}", question);
    std::fflush(stdout);
    std::string line;
    is_ended_ = !std::getline(std::cin, line);
    return is_ended_ ? std::nullopt : std::optional(trimmed(line));
  }

  void print(const std::string& text) {
    FILE* const to = output_ ? output_.get() : stdout;
    std::fwrite(text.data(), 1, text.size(), to);
  }

  void act(const std::string& line) {
    const std::size_t end = std::min(line.find(' '), line.size());
    const std::string name = line.substr(0, end);
    if (name.empty()) return;
    const auto found =
        std::find_if(commands().begin(), commands().end(), [&](const command& known) { return known.name == name; });
    if (found == commands().end()) return print_help();
    (this->*found->act)(trimmed(std::string_view(line).substr(end)));
  }

  void explain(const std::string& tuple) {
    const auto found = run_->why(tuple, depth_);
    if (!found) return print("Tuple not found\n");
    if (is_json_) return print(to_json(*found) + "\n");
    const std::size_t before = cuts_.size();
    collect_cuts(*found, cuts_);
    std::vector<std::string> names;
    for (std::size_t i = before; i < cuts_.size(); ++i)
      names.push_back(fmt::format("subproof {}({})", cuts_[i].first, i));
    print(to_text(*found, names, is_terminal_ ? output_columns() : SIZE_MAX));
  }

  void explain_part(const std::string& part) {
    const std::size_t open = part.find('(');
    const std::size_t close = part.rfind(')');
    if (open == std::string::npos || close == std::string::npos || close < open)
      return print("Usage: subproof relation(N)\n");
    const auto number = number_from(std::string_view(part).substr(open + 1, close - open - 1));
    const std::string relation = part.substr(0, open);
    if (!number || *number >= cuts_.size() || cuts_[*number].first != relation) return print("Subproof not found\n");
    explain(std::string(cuts_[*number].second));
  }

  void set_depth(const std::string& text) {
    const auto number = number_from(text);
    if (!number || *number < 1 || *number > most_depth)
      return print(fmt::format("Usage: setdepth N, from 1 to {}\n", most_depth));
    depth_ = *number;
    print(fmt::format("Depth is now {}\n", depth_));
  }

  void explain_negation(const std::string& tuple) {
    const auto found = run_->why(tuple, depth_);
    if (found) return print(fmt::format("Tuple {} exists\n", found->text));
    std::vector<failed_rule> rules = run_->why_not(tuple);
    if (rules.empty()) return print("The relation has no rules\n");
    for (const failed_rule& rule : rules) print(fmt::format("{}: {}\n", rule.number, laid_out(rule.rule)));
    const auto answer = ask("Pick a rule number: ");
    if (!answer) return;
    const auto picked = number_from(*answer);
    if (!picked || *picked == 0 || *picked > rules.size()) return print("There is no such rule\n");
    variable_values values;
    while (!rules[*picked - 1].free_variables.empty()) {
      const std::string variable = rules[*picked - 1].free_variables.front();
      const auto value = ask(fmt::format("Pick a value for {}: ", variable));
      if (!value) return;
      values[variable] = *value;
      rules = run_->why_not(tuple, values);
      if (rules[*picked - 1].fits_head && !rules[*picked - 1].free_variables.empty() &&
          rules[*picked - 1].free_variables.front() == variable) {
        return print("That is no value of the variable\n");
      }
    }
    print(to_text(rules[*picked - 1], tuple));
  }

  /// Prints one match at a time, as Soufflé does.
  void query(const std::string& question) {
    constexpr std::size_t most = 1000;
    const tuple_matches found = run_->matches(question, most);
    if (found.variables.empty()) {
      const char* const answer = found.values.empty() ? "does not exist" : "exists";
      return print(fmt::format("Tuple {} {}\n", question, answer));
    }
    if (found.values.empty()) return print("No tuples match\n");
    for (const std::vector<std::string>& match : found.values) {
      std::string text;
      for (std::size_t v = 0; v < match.size(); ++v)
        text += fmt::format("{}{} = {}", v == 0 ? "" : ", ", found.variables[v], match[v]);
      print(text + "\n");
      if (&match == &found.values.back()) break;
      std::optional<std::string> wish = ask("");
      while (wish && *wish != ";" && *wish != ".") {
        print("; shows the next match, . ends the query\n");
        wish = ask("");
      }
      if (!wish || *wish == ".") return;
    }
    print(found.is_all ? "No more tuples match\n" : fmt::format("There are more than {} matches\n", most));
  }

  /// @param text relation and number of the rule
  void print_rule(const std::string& text) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    const auto number = number_from(trimmed(std::string_view(text).substr(blank)));
    const std::vector<std::string> rules = run_->rules(text.substr(0, blank));
    if (!number || *number == 0 || *number > rules.size()) return print("Rule not found\n");
    print(laid_out(rules[*number - 1]) + "\n");
  }

  void set_format(const std::string& name) {
    if (name != "json" && name != "proof") return print("Usage: format json|proof\n");
    is_json_ = name == "json";
  }

  void set_output(const std::string& path) {
    output_.reset();
    if (path.empty()) return;
    output_.reset(std::fopen(path.c_str(), "w"));
    if (!output_) print(fmt::format("Cannot write to {}\n", path));
  }

  void print_help() {
    constexpr std::size_t width = 23;
    for (const command& known : commands()) {
      print(fmt::format("{:<{}}{}\n", fmt::format("{} {}", known.name, known.argument), width, known.description));
    }
    print("exit, quit, q\n");
  }

  struct closer {
    void operator()(FILE* file) const { static_cast<void>(std::fclose(file)); }
  };

  engine* run_;
  bool is_terminal_;
  bool is_json_ = false;
  bool is_ended_ = false;           ///< no more input
  std::vector<std::string> names_;  ///< of relations, for the editor
  std::optional<line_editor> editor_;
  std::size_t depth_ = first_depth;
  std::unique_ptr<FILE, closer> output_;
  std::vector<std::pair<std::string, std::string>> cuts_;  ///< relation and tuple, by number of the subproof
};

}  // namespace

void require_relations(const program& source, const std::vector<std::string>& tuples) {
  std::vector<std::string> names;
  for (const relation_declaration& one : source.relations()) names.push_back(one.name);
  for (const std::string& tuple : tuples) {
    const std::string name = trimmed(std::string_view(tuple).substr(0, tuple.find('(')));
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    throw input_error(fmt::format("--why '{}': there is no relation {}{}", tuple, name, did_you_mean(name, names)));
  }
}

why_answer answer_why(engine& run, const std::string& question, std::size_t columns) {
  const tuple_matches matches = run.matches(question, most_proofs);
  why_answer answer{!matches.values.empty(), matches.is_all || matches.variables.empty(), {}};
  for (const std::string& tuple : matches.tuples) {
    if (const auto found = run.why(tuple, first_depth)) answer.text += to_text(*found, {}, columns);
  }
  if (answer.holds || !matches.is_ground) return answer;
  for (const failed_rule& rule : run.why_not(question)) answer.text += to_text(rule, question, columns);
  return answer;
}

bool print_proofs(engine& run, const std::vector<std::string>& questions) {
  bool is_answered = true;
  const std::size_t columns = output_columns();
  for (const std::string& question : questions) {
    try {
      const why_answer answer = answer_why(run, question, columns);
      if (!answer.holds) fmt::print("{} does not hold\n", question);
      if (answer.holds && answer.text.empty())
        fmt::print("{} holds: ask for a single tuple to see its proof\n", question);
      fmt::print("{}", answer.text);
      if (!answer.is_all) fmt::print("{} has more matches: --query prints all of them\n", question);
    } catch (const input_error& fault) {
      print_remark(severity::error, fault.what());
      is_answered = false;
    }
  }
  return is_answered;
}

void run_explain_session(engine& run) { explain_session(run).read_commands(); }

}  // namespace gpulog::cli
