#include "cli/repl/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "cli/interrupt.hpp"
#include "cli/line_text.hpp"
#include "cli/messages.hpp"
#include "cli/profile/record.hpp"
#include "cli/profile/tables.hpp"
#include "cli/progress_line.hpp"
#include "gpulog/engine.hpp"
#include "gpulog/error.hpp"

namespace gpulog::cli {
namespace {

constexpr std::string_view query_mark = "?-";
constexpr std::size_t profile_lines = 10;

std::string without_quotes(const std::string& text) {
  const bool is_quoted = text.size() > 1 && text.front() == '"' && text.back() == '"';
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

}  // namespace

const std::vector<session::command>& session::commands() {
  static const std::vector<command> all = {
      {".load", "FILE", "add a program's text from a file", &session::load},
      {".list", "", "show the program", &session::list},
      {".explain", "", "show the plan of the last query with expected and actual rows and times", &session::explain},
      {".profile", "", "show where the time of the last query went", &session::profile},
      {".help", "", "show this text", &session::help},
      {".quit", "", "leave, as Ctrl-D does", &session::quit},
  };
  return all;
}

session::session(arguments given) : given_(std::move(given)), program_(given_.compile) {
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
  for (const command& known : commands()) {
    if (word == known.name) return (this->*known.act)(without_quotes(trimmed(text.substr(word.size()))));
  }
  return program_.add(entry) == outcome::unfinished ? reply::more : reply::done;
}

session::reply session::ask(const std::string& query) {
  std::optional<program> asked;
  const outcome found = program_.ask(query, running_ ? &*running_ : nullptr, asked);
  if (found == outcome::unfinished) return reply::more;
  if (!asked) return reply::done;
  go_on(*asked);
  if (given_.explain) fmt::print("{}", gpulog::explain(*last_));
  return reply::done;
}

void session::go_on(const program& source) {
  forget_interrupts();
  try {
    if (!running_ || !running_->change_program(source)) running_.emplace(source, given_.run);
    run(*running_);
  } catch (...) {
    running_.reset();
    throw;
  }
}

void session::run(engine& running) {
  try {
    if (given_.run.is_watched) line_.emplace(running);
    running.run();
    line_.reset();
  } catch (...) {
    line_.reset();
    last_ = running.figures();
    throw;
  }
  last_ = running.figures();
  if (given_.compile.warnings) program_.print_new_remarks(running.warnings());
}

session::reply session::load(const std::string& path) {
  if (path.empty()) throw input_error(".load needs the name of a file");
  program_.load(path);
  return reply::done;
}

session::reply session::list(const std::string& /*argument*/) {
  fmt::print("{}", program_.listing());
  return reply::done;
}

session::reply session::explain(const std::string& /*argument*/) {
  if (!last_) {
    run_options everything = given_.run;
    everything.tuning.insert_or_assign("unneeded-relations", "off");
    forget_interrupts();
    engine running(program_.without_queries(), std::move(everything));
    run(running);
  }
  fmt::print("{}", gpulog::explain(*last_));
  return reply::done;
}

session::reply session::profile(const std::string& /*argument*/) {
  if (!last_) throw input_error("nothing has run: ask a query first");
  fmt::print("{}", profile_tables(record_of(to_json(*last_), "the last query"), profile_lines));
  return reply::done;
}

session::reply session::help(const std::string& /*argument*/) {
  std::string text =
      "Rules and facts end with a dot; declarations and directives may. ?- asks:\n"
      "  .decl edge(x:symbol, y:symbol)\n"
      "  edge(\"Vienna\", \"Linz\").\n"
      "  ?- edge(x, \"Linz\").\n"
      "Ctrl-C ends a query or leaves an entry. Commands:\n";
  constexpr std::size_t width = 14;
  for (const command& known : commands()) {
    text += fmt::format("  {:<{}}{}\n", fmt::format("{} {}", known.name, known.argument), width, known.description);
  }
  fmt::print("{}", text);
  return reply::done;
}

session::reply session::quit(const std::string& /*argument*/) { return reply::leave; }

}  // namespace gpulog::cli
