#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "cli/explain_session.hpp"
#include "cli/interrupt.hpp"
#include "cli/profile/record.hpp"
#include "cli/profile/tables.hpp"
#include "cli/repl/session.hpp"
#include "gpulog/error.hpp"
#include "io/files/output_files.hpp"

/// The commands of a session.
namespace gpulog::cli {
namespace {

constexpr std::size_t profile_lines = 10;

}  // namespace

const std::vector<session::command>& session::commands() {
  static const std::vector<command> all = {
      {".load", "FILE", "add a program's text from a file", &session::load},
      {".list", "", "show the program", &session::list},
      {".save", "FILE", "write the program to a new file", &session::save},
      {".relations", "", "list the relations, with the number of rows of computed relations", &session::relations},
      {".retract", "FACT", "remove a fact that was entered", &session::retract},
      {".why", "TUPLE", "explain why a relation contains a tuple, or why it does not", &session::why},
      {".rows", "N|all", "set the number of rows that a query prints (100)", &session::limit_rows},
      {".timer", "on|off", "print the time of each query", &session::set_timer},
      {".explain", "", "show the plan of the last query with expected and actual rows and times", &session::explain},
      {".profile", "", "show where the time of the last query went", &session::profile},
      {".help", "", "show this text", &session::help},
      {".quit", "", "leave, as .exit and Ctrl-D do", &session::quit},
      {".exit", "", "", &session::quit},
  };
  return all;
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

session::reply session::save(const std::string& path) {
  if (path.empty()) throw input_error(".save needs the name of a file");
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored))
    throw input_error(fmt::format("The file {} exists: name a new file", path));
  io::write_file(path, program_.source());
  return reply::done;
}

session::reply session::relations(const std::string& /*argument*/) {
  std::vector<std::pair<std::string, std::string>> lines;  // declaration and rows
  std::size_t width = 0;
  const std::string_view time = program_.listing() == computed_program_ ? "" : " before later changes";
  for (const relation_declaration& declared : program_.without_queries().relations()) {
    std::string text = declared.name + "(";
    for (const attribute& one : declared.attributes)
      text += fmt::format("{}{}:{}", text.ends_with('(') ? "" : ", ", one.name, one.declared_type);
    text += ")";
    const auto computed = running_ ? running_->find(declared.name) : std::nullopt;
    const bool is_complete = computed && computed->is_complete();
    width = std::max(width, text.size());
    lines.emplace_back(text, is_complete ? fmt::format("{} rows{}", computed->size(), time) : "not computed");
  }
  for (const auto& [text, rows] : lines) fmt::print("{:<{}}  {}\n", text, width, rows);
  return reply::done;
}

session::reply session::retract(const std::string& facts) {
  if (facts.empty()) throw input_error(".retract needs a fact, as edge(1, 2)");
  program_.retract(facts);
  return reply::done;
}

session::reply session::why(const std::string& question) {
  if (question.empty()) throw input_error(".why needs a tuple, as reach(1, x)");
  run_options everything = given_.run;
  everything.proofs = true;
  std::optional<statistics> figures;
  forget_interrupts();
  try {
    if (!proving_ || !proving_->change_program(program_.without_queries(&*proving_)))
      proving_.emplace(program_.without_queries(), everything);
    run(*proving_, figures);
  } catch (...) {
    proving_.reset();
    throw;
  }
  static_cast<void>(print_proofs(*proving_, {question}));
  return reply::done;
}

session::reply session::limit_rows(const std::string& number) {
  std::uint64_t rows = 0;
  const auto [end, failure] = std::from_chars(number.data(), number.data() + number.size(), rows);
  const bool is_number = failure == std::errc() && end == number.data() + number.size();
  if (!is_number && number != "all") throw input_error(".rows needs a number, or all");
  most_rows_ = is_number ? std::optional(rows) : std::nullopt;
  program_.limit_rows(most_rows_);
  return reply::done;
}

session::reply session::set_timer(const std::string& value) {
  if (value != "on" && value != "off") throw input_error(".timer needs on or off");
  is_timed_ = value == "on";
  return reply::done;
}

session::reply session::explain(const std::string& /*argument*/) {
  if (!last_) {
    run_options everything = given_.run;
    everything.tuning.insert_or_assign("unneeded-relations", "off");
    forget_interrupts();
    engine running(program_.without_queries(), std::move(everything));
    run(running, last_);
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
  constexpr std::size_t width = 16;
  for (const command& known : commands()) {
    if (known.description.empty()) continue;
    text += fmt::format("  {:<{}}{}\n", fmt::format("{} {}", known.name, known.argument), width, known.description);
  }
  fmt::print("{}", text);
  return reply::done;
}

session::reply session::quit(const std::string& /*argument*/) { return reply::leave; }

}  // namespace gpulog::cli
