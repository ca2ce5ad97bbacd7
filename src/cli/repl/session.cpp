#include "cli/repl/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <utility>

#include "cli/interrupt.hpp"
#include "cli/line_text.hpp"
#include "cli/messages.hpp"
#include "cli/progress_line.hpp"
#include "gpulog/engine.hpp"
#include "gpulog/error.hpp"
#include "support/suggestion.hpp"
#include "syntax/token.hpp"

namespace gpulog::cli {
namespace {

constexpr std::string_view query_mark = "?-";

std::string without_quotes(const std::string& text) {
  const bool is_quoted = text.size() > 1 && text.front() == '"' && text.back() == '"';
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

/// Returns whether the entry has an empty last line.
bool ends_empty(const std::string& entry) {
  const std::size_t last = entry.find_last_not_of(blanks);
  return std::count(entry.begin() + static_cast<std::ptrdiff_t>(last), entry.end(), '\n') > 1;
}

}  // namespace

session::session(arguments given) : given_(std::move(given)), program_(given_.compile) {
  program_.limit_rows(most_rows_);
  given_.run.cancelled = &cancel_requested;
  given_.run.report_seconds = given_.profile_every;
  given_.run.is_watched = given_.verbose || progress_line::is_terminal();
  given_.run.before_printing = [this] { line_.reset(); };
  given_.run.count_rows = true;
  if (given_.verbose) given_.run.on_event = print_event;
  for (const std::string& path : {given_.statistics_file, given_.profile_file}) {
    if (!path.empty()) given_.run.report_files.push_back(path);
  }
}

std::vector<std::string> session::candidates_after(std::string_view text) const {
  std::vector<std::string> words = program_.names();
  if (!trimmed(text).empty()) return words;
  for (const command& known : commands())
    words.push_back(std::string(known.name) + (known.argument.empty() ? "" : " "));
  for (const std::string_view name : syntax::directive_names()) words.push_back(fmt::format(".{} ", name));
  return words;
}

session::reply session::take(const std::string& entry) {
  try {
    return acted(entry);
  } catch (const cancelled_error&) {
    print_message("Interrupted\n");
  } catch (const std::bad_alloc&) {
    print_remark(severity::error, "the machine has too little memory for this query on these facts");
  } catch (const std::exception& failure) {
    print_remark(severity::error, failure.what());
  }
  return reply::done;
}

session::reply session::acted(const std::string& entry) {
  const std::string text = trimmed(entry);
  if (text.empty()) return reply::done;
  if (text.starts_with(query_mark)) {
    // Keeps the columns of the entry in messages.
    std::string query = entry;
    query.replace(query.find(query_mark), query_mark.size(), query_mark.size(), ' ');
    return ask(query);
  }
  const std::string word = text.substr(0, text.find_first_of(blanks));
  std::vector<std::string> names;
  for (const command& known : commands()) {
    const bool is_bare = known.argument.empty() && text == known.name.substr(1);
    if (is_bare) return (this->*known.act)({});
    if (word == known.name) return (this->*known.act)(without_quotes(trimmed(text.substr(word.size()))));
    names.emplace_back(known.name);
  }
  if (word.front() == '.' && closest_name(word, names) && !program_.accepts(entry))
    throw input_error(fmt::format("There is no command {}{}", word, did_you_mean(word, names)));
  return add(entry);
}

session::reply session::add(const std::string& entry) {
  const outcome result = program_.add(entry);
  if (result == outcome::accepted || !program_.is_query(entry))
    return result == outcome::unfinished ? reply::more : reply::done;
  if (result == outcome::refused) {
    print_message("To ask this as a query, begin with ?-.\n");
    return reply::done;
  }
  if (ends_empty(entry)) return ask(entry);
  if (std::count(entry.begin(), entry.end(), '\n') == 1)
    print_message("A query begins with ?-. An empty line asks this query; a dot ends a rule or fact.\n");
  return reply::more;
}

session::reply session::ask(const std::string& query) {
  std::optional<program> asked;
  const outcome found = program_.ask(query, running_ ? &*running_ : nullptr, asked);
  if (found == outcome::unfinished) return reply::more;
  if (!asked) return reply::done;
  const auto begin = std::chrono::steady_clock::now();
  go_on(*asked);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const std::uint64_t rows = running_->relation(asked->queries().front().name).size();
  if (most_rows_ && rows > *most_rows_) fmt::print("{} of {} rows; .rows all prints all rows\n", *most_rows_, rows);
  if (given_.explain) fmt::print("{}", gpulog::explain(*last_));
  if (is_timed_) fmt::print("{:.3f} s\n", seconds.count());
  return reply::done;
}

void session::go_on(const program& source) {
  forget_interrupts();
  try {
    if (!running_ || !running_->change_program(source)) running_.emplace(source, given_.run);
    run(*running_, last_);
    computed_program_ = program_.listing();
  } catch (...) {
    running_.reset();
    throw;
  }
}

void session::run(engine& running, std::optional<statistics>& figures) {
  try {
    if (given_.run.is_watched) line_.emplace(running);
    running.run();
    line_.reset();
  } catch (...) {
    line_.reset();
    figures = running.figures();
    throw;
  }
  figures = running.figures();
  if (given_.compile.warnings) program_.print_new_remarks(running.warnings());
}

}  // namespace gpulog::cli
