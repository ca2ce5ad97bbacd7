#include "cli/repl/entered_program.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "cli/line_text.hpp"
#include "cli/messages.hpp"
#include "gpulog/error.hpp"

namespace gpulog::cli {
namespace {

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
  return {text, fmt::format("#line 1 \"entry {}\"\n{}\n", pieces_.size() + 1, text)};
}

program entered_program::compiled(const std::string& more, const compile_options& options,
                                  const engine* running) const {
  std::string text;
  for (const piece& one : pieces_) text += one.text;
  constexpr const char* name = "session";
  return running == nullptr ? program::from_text(text + more, options, name)
                            : running->read(text + more, options, name);
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
  return outcome::accepted;
}

outcome entered_program::take(piece added) {
  const outcome found = judged(compiled(added.text, options_));
  if (found == outcome::accepted) pieces_.push_back(std::move(added));
  return found;
}

outcome entered_program::add(const std::string& text) {
  if (const std::string directive = without_dot(text); !directive.empty()) {
    if (compiled(entry(directive).text, options_).ok()) return take(entry(directive));
  }
  return take(entry(text));
}

void entered_program::load(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) throw input_error("Cannot open file " + path);
  if (path.find_first_of("\"\n") != std::string::npos) throw input_error("A file with a quote in its name: " + path);
  piece file{".load " + path, fmt::format("#include \"{}\"\n", std::filesystem::absolute(path).string())};
  const program source = compiled(file.text, options_);
  print_new_remarks(source.diagnostics());
  if (source.ok()) pieces_.push_back(std::move(file));
}

outcome entered_program::ask(const std::string& query, const engine* running, std::optional<program>& made) {
  compile_options asking = options_;
  asking.queries = {{query, "query"}};
  program source = compiled({}, asking, running);
  const outcome found = judged(source);
  if (found == outcome::accepted) made.emplace(std::move(source));
  return found;
}

program entered_program::without_queries() const { return compiled({}, options_); }

std::string entered_program::listing() const {
  std::string text;
  for (const piece& one : pieces_) {
    text += one.shown;
    if (!text.ends_with('\n')) text += '\n';
  }
  return text;
}

}  // namespace gpulog::cli
