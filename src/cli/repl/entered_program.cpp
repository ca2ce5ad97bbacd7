#include "cli/repl/entered_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "cli/line_text.hpp"
#include "cli/messages.hpp"
#include "gpulog/error.hpp"

namespace gpulog::cli {
namespace {

constexpr const char* session_name = "session";
constexpr const char* not_retractable = "{} cannot be retracted: the text is in a file or states more than one fact";

/// Removes the dot after a directive, which programs do not have; empty for other texts.
std::string without_dot(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(blanks);
  const std::size_t end = text.find_last_not_of(blanks);
  if (begin == std::string::npos || begin == end || text[begin] != '.' || text[end] != '.') return {};
  return text.substr(0, end) + text.substr(end + 1);
}

}  // namespace

entered_program::entered_program(compile_options options) : options_(std::move(options)) {
  options_.only_queries = true;
  options_.expects_output = false;
  // Rules of a declared relation may follow in later entries.
  options_.left_out_warnings.emplace_back("no-rules-nor-facts");
}

entered_program::piece entered_program::entry(const std::string& text) const {
  return {fmt::format("#line 1 \"entry {}\"\n", pieces_.size() + 1), text, {}};
}

program entered_program::compiled(const std::string& more, const compile_options& options,
                                  const engine* running) const {
  std::string text;
  for (const piece& one : pieces_) text += one.whole();
  return running == nullptr ? program::from_text(text + more, options, session_name)
                            : running->read(text + more, options, session_name);
}

void entered_program::print_new_remarks(const std::vector<diagnostic>& all) {
  std::vector<diagnostic> remarks;
  for (const diagnostic& remark : all) {
    if (remark.level == severity::warning && !printed_.insert(remark.text).second) continue;
    remarks.push_back(remark);
  }
  print_remarks(remarks);
}

outcome entered_program::judged(const program& source) {
  if (!source.ok()) {
    // A loaded file may have changed; no input line can fix its errors.
    const program before = without_queries();
    if (before.ok() && source.is_cut_off()) return outcome::unfinished;
    print_new_remarks((before.ok() ? source : before).diagnostics());
    return outcome::refused;
  }
  print_new_remarks(source.diagnostics());
  note_names(source);
  return outcome::accepted;
}

void entered_program::note_names(const program& source) {
  names_.clear();
  for (const relation_declaration& relation : source.relations()) names_.push_back(relation.name);
}

outcome entered_program::take(piece added) {
  const outcome found = judged(compiled(added.whole(), options_));
  if (found == outcome::accepted) pieces_.push_back(std::move(added));
  return found;
}

bool entered_program::accepts(const std::string& text) const {
  const program source = compiled(entry(text).whole(), options_);
  return source.ok() || source.is_cut_off();
}

outcome entered_program::add(const std::string& text) {
  if (const std::string directive = without_dot(text); !directive.empty()) {
    if (compiled(entry(directive).whole(), options_).ok()) return take(entry(directive));
  }
  return take(entry(text));
}

void entered_program::load(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) throw input_error("Cannot open file " + path);
  if (path.find_first_of("\"\n") != std::string::npos) throw input_error("A file with a quote in its name: " + path);
  piece file{fmt::format("#include \"{}\"", std::filesystem::absolute(path).string()), {}, path};
  const program source = compiled(file.whole(), options_);
  print_new_remarks(source.diagnostics());
  if (!source.ok()) return;
  note_names(source);
  pieces_.push_back(std::move(file));
}

/// Returns the place of the clause that consists of the fact, with its dot; nothing for a fact outside of the entries.
std::optional<entered_program::range> entered_program::clause_at(const program_fact& fact) const {
  if (fact.path != session_name) return std::nullopt;
  std::size_t begin = fact.begin;
  for (std::size_t number = 0; number < pieces_.size(); ++number) {
    const piece& one = pieces_[number];
    const std::size_t length = one.whole().size();
    if (begin >= length) {
      begin -= length;
      continue;
    }
    const std::size_t first = begin - one.heading.size();
    const std::size_t dot = one.text.find_first_not_of(blanks, first + fact.end - fact.begin);
    if (dot == std::string::npos || one.text[dot] != '.') return std::nullopt;
    return range{number, first, dot + 1};
  }
  return std::nullopt;
}

/// Replaces clauses by blanks, which keep the columns of the other clauses in messages.
void entered_program::blank(const std::vector<range>& clauses) {
  for (const range& clause : clauses)
    std::fill_n(pieces_[clause.piece].text.begin() + static_cast<std::ptrdiff_t>(clause.begin),
                clause.end - clause.begin, ' ');
}

void entered_program::retract(const std::string& facts) {
  std::string text = trimmed(facts);
  if (!text.ends_with('.')) text += '.';
  std::size_t length = 0;
  for (const piece& one : pieces_) length += one.whole().size();
  const program source = compiled(entry(text).whole(), options_);
  if (!source.ok()) return print_new_remarks(source.diagnostics());
  std::vector<program_fact> before = source.facts();
  const auto added = std::stable_partition(before.begin(), before.end(), [&](const program_fact& fact) {
    return fact.path != session_name || fact.begin < length;
  });
  if (added == before.end()) throw input_error(fmt::format("'{}' is not a fact", trimmed(facts)));
  std::vector<range> clauses;
  std::string names;
  for (auto fact = added; fact != before.end(); ++fact) {
    const auto is_same = [&](const program_fact& one) { return one.text == fact->text; };
    if (std::none_of(before.begin(), added, is_same))
      throw input_error(fmt::format("The fact {} was not entered", fact->text));
    if (std::any_of(added, fact, is_same)) continue;
    names += (names.empty() ? "" : ", ") + fact->text;
    for (auto one = before.begin(); one != added; ++one) {
      if (!is_same(*one)) continue;
      const auto clause = clause_at(*one);
      if (!clause) throw input_error(fmt::format(not_retractable, fact->text));
      clauses.push_back(*clause);
    }
  }
  const std::vector<piece> pieces = pieces_;
  blank(clauses);
  // A component or a macro may spell several facts with one text.
  const auto kept = static_cast<std::size_t>(added - before.begin()) - clauses.size();
  if (without_queries().facts().size() == kept) return;
  pieces_ = pieces;
  throw input_error(fmt::format(not_retractable, names));
}

bool entered_program::is_query(const std::string& text) const {
  compile_options asking = options_;
  asking.queries = {{text, "query"}};
  return compiled({}, asking).ok();
}

void entered_program::limit_rows(std::optional<std::uint64_t> rows) {
  options_.query_parameters.erase("most_rows");
  if (rows) options_.query_parameters["most_rows"] = std::to_string(*rows);
}

outcome entered_program::ask(const std::string& query, const engine* running, std::optional<program>& made) {
  compile_options asking = options_;
  asking.queries = {{query, "query"}};
  program source = compiled({}, asking, running);
  const outcome found = judged(source);
  if (found == outcome::accepted) made.emplace(std::move(source));
  return found;
}

program entered_program::without_queries(const engine* running) const { return compiled({}, options_, running); }

std::string entered_program::listing() const {
  std::string text;
  for (const piece& one : pieces_) {
    if (!one.path.empty()) {
      std::ifstream file(one.path);
      text += fmt::format("// {}\n{}", one.path, std::string(std::istreambuf_iterator<char>(file), {}));
    } else if (const std::string shown = trimmed(one.text); !shown.empty()) {
      text += shown;
    }
    if (!text.empty() && !text.ends_with('\n')) text += '\n';
  }
  return text;
}

std::string entered_program::source() const {
  std::string text;
  for (const piece& one : pieces_) {
    const std::string shown = one.path.empty() ? trimmed(one.text) : one.heading;
    if (!shown.empty()) text += shown + "\n";
  }
  return text;
}

}  // namespace gpulog::cli
