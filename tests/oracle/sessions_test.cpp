// Sessions: an engine continues with a program that grows. Each answer is compared with the naive evaluator on the
// program so far.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "oracle/engine_comparison.hpp"
#include "oracle/random_program.hpp"
#include "oracle/random_runs.hpp"

namespace gpulog {
namespace {

/// A program line by line: declarations, and clauses in random order.
struct program_lines {
  std::string declarations;
  std::vector<std::string> clauses;
};

program_lines lines_of(const std::string& text, std::mt19937_64& random) {
  program_lines found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(".decl")) {
      found.declarations += line + "\n";
    } else if (!line.empty() && line.front() != '.') {
      found.clauses.push_back(line + "\n");
    }
  }
  std::shuffle(found.clauses.begin(), found.clauses.end(), random);
  return found;
}

/// Rows by relation.
std::map<std::string, row_texts> results_from_scratch(const std::string& text) {
  source_manager sources;
  diagnostics report;
  const syntax::program parsed = syntax::parse(sources.add("random.dl", text), sources, report);
  const auto analysed = sema::analyse(parsed, report, {.warnings = false});
  std::map<std::string, row_texts> all;
  if (!analysed) return all;
  oracle::database data(*analysed);
  oracle::evaluate(*analysed, data);
  for (std::uint32_t number = 0; number < analysed->relations.size(); ++number) {
    const sema::relation& relation = analysed->relations[number];
    row_texts& rows = all[relation.name];
    for (const oracle::tuple& row : data[relation_id(number)]) {
      std::vector<std::string> columns;
      for (std::size_t c = 0; c < row.size(); ++c) {
        const bool is_symbol = relation.attributes[c].kind == value_kind::symbol;
        columns.push_back(is_symbol ? data.text(row[c]) : std::to_string(row[c]));
      }
      rows.insert(std::move(columns));
    }
  }
  return all;
}

/// A session: one engine, and a program text that grows.
class session_run {
 public:
  session_run(const mode& how, std::string declarations) : text_(std::move(declarations)) {
    options_.storage = how.storage;
    options_.jobs = how.jobs;
    options_.backend = how.backend;
    options_.tuning = how.tuning;
    options_.tuning["unneeded-relations"] = "on";
    options_.tuning.emplace("continuation", "on");
  }

  void add(const std::string& clause) { text_ += clause; }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::size_t engines() const { return engines_; }
  [[nodiscard]] engine& running() { return *engine_; }

  /// @return the rows of the query
  row_texts ask(const std::string& query) {
    compile_options compiling;
    compiling.warnings = false;
    compiling.only_queries = true;
    compiling.queries = {{query, "query"}};
    const program source = engine_ ? engine_->read(text_, compiling) : program::from_text(text_, compiling);
    EXPECT_TRUE(source.ok()) << source.report();
    if (!engine_ || !engine_->change_program(source)) {
      engine_.emplace(source, options_);
      ++engines_;
    }
    engine_->load();
    engine_->evaluate();
    return rows_of(engine_->relation(source.queries().front().name));
  }

 private:
  std::string text_;
  run_options options_;
  std::optional<engine> engine_;
  std::size_t engines_ = 0;
};

/// A query for all rows of a relation, or for the rows with a given first value, and the expected answer.
struct question {
  std::string query;
  row_texts answer;
};

/// Returns a constant in the form of a program. @param text of a symbol, or of the bits of a number
std::string constant_of(const std::string& type, const std::string& text) {
  if (type == "symbol") return "\"" + text + "\"";
  return type == "number" ? std::to_string(static_cast<std::int32_t>(std::stoul(text))) : text;
}

question question_about(const relation_declaration& asked, const row_texts& rows, std::mt19937_64& random) {
  question made;
  const std::size_t arity = asked.attributes.size();
  const std::string type = arity == 0 ? "" : asked.attributes.front().type;
  const std::vector<std::string>* row = nullptr;
  if (arity > 1 && type != "float" && !rows.empty() && random() % 2 == 0)
    row = &*std::next(rows.begin(), static_cast<std::ptrdiff_t>(random() % rows.size()));
  made.query = asked.name + "(";
  for (std::size_t c = 0; c < arity; ++c) {
    std::string argument = "v" + std::to_string(c);
    if (c == 0 && row != nullptr) argument = constant_of(type, row->front());
    made.query += (c == 0 ? "" : ", ") + argument;
  }
  made.query += ")";
  for (const std::vector<std::string>& one : rows) {
    if (row == nullptr) made.answer.insert(one);
    if (row != nullptr && one.front() == row->front()) made.answer.emplace(one.begin() + 1, one.end());
  }
  return made;
}

void expect_same_in_session(const std::string& text, std::uint64_t seed, const mode& how) {
  SCOPED_TRACE(std::string(how.name) + ", seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const program_lines lines = lines_of(text, random);
  session_run session(how, lines.declarations);
  const program declared = program::from_text(lines.declarations, {.warnings = false});
  std::size_t next = lines.clauses.size() / 2;
  for (std::size_t i = 0; i < next; ++i) session.add(lines.clauses[i]);
  for (int turn = 0; turn < 6; ++turn) {
    const auto results = results_from_scratch(session.text());
    ASSERT_FALSE(results.empty());
    const auto relations = declared.relations();
    const relation_declaration& asked = relations[random() % relations.size()];
    const question made = question_about(asked, results.at(asked.name), random);
    ASSERT_EQ(session.ask(made.query), made.answer) << made.query << "\n" << session.text();
    for (std::uint64_t more = random() % 4; more > 0 && next < lines.clauses.size(); --more)
      session.add(lines.clauses[next++]);
  }
  EXPECT_LE(session.engines(), 1U) << session.text();
}

TEST(sessions, random_programs) {
  const std::uint64_t first = oracle::first_seed(1);
  for (std::uint64_t seed = first; seed < first + oracle::programs_to_try(400); ++seed) {
    oracle::random_program_options options;
    options.equivalences = seed % 4 == 0 ? 60 : 0;
    expect_same_in_session(oracle::make_random_program(seed, options).text, seed, modes[seed % modes.size()]);
    if (testing::Test::HasFatalFailure()) return;
  }
}

/// The magic-set transformation of a later query read rules of an unchanged relation, and ended with "map::at".
TEST(sessions, relations_that_stay_have_no_rules) {
  const std::uint64_t seed = 4321000777;
  expect_same_in_session(oracle::make_random_program(seed, {}).text, seed, modes[seed % modes.size()]);
}

TEST(sessions, random_programs_on_gpu) {
  if (const std::string reason = no_gpu(); !reason.empty()) GTEST_SKIP() << "skipped: no GPU (" << reason << ")";
  const std::uint64_t first = oracle::first_seed(1);
  for (std::uint64_t seed = first; seed < first + programs_for_gpu(100); ++seed) {
    expect_same_in_session(oracle::make_random_program(seed, {}).text, seed, gpu_modes[seed % gpu_modes.size()]);
    if (testing::Test::HasFatalFailure()) return;
  }
}

std::vector<std::string> strata_run(engine& running) {
  std::vector<std::string> found;
  for (const stratum_statistics& stratum : running.figures().strata) {
    if (!stratum.rules.empty()) found.insert(found.end(), stratum.relations.begin(), stratum.relations.end());
  }
  return found;
}

const char* const reach_rules =
    ".decl e(x:number, y:number)\n.decl r(x:number, y:number)\n.decl s(x:number)\n"
    "e(x, x + 1) :- x = range(0, 50).\nr(x, y) :- e(x, y).\nr(x, z) :- r(x, y), e(y, z).\n";

TEST(sessions, what_is_there_is_not_computed_again) {
  session_run session(modes.front(), reach_rules);
  EXPECT_EQ(session.ask("r(x, y), x > 45").size(), 4U + 3U + 2U + 1U);
  EXPECT_EQ(session.ask("r(x, y), x > 46").size(), 3U + 2U + 1U);
  EXPECT_EQ(strata_run(session.running()), (std::vector<std::string>{"query 1"}));
  session.add("s(x) :- r(x, 50), !e(x, _).\n");
  EXPECT_EQ(session.ask("s(x)").size(), 0U);
  EXPECT_EQ(strata_run(session.running()), (std::vector<std::string>{"s", "query 1"}));
  session.add("e(50, 7).\n");
  EXPECT_EQ(session.ask("r(49, x)").size(), 44U);
  EXPECT_EQ(session.engines(), 1U);
}

TEST(sessions, constants_of_queries_have_the_engines_numbers) {
  session_run session(modes.front(), ".decl a(s:symbol)\na(cat(\"x\", \"y\")).\na(\"z\").\n");
  EXPECT_EQ(session.ask("a(s), s != \"q\""), (row_texts{{"xy"}, {"z"}}));
  EXPECT_EQ(session.ask("a(\"xy\")").size(), 1U);
  EXPECT_EQ(session.ask("a(s), ord(s) = ord(\"xy\")"), (row_texts{{"xy"}}));
  EXPECT_EQ(session.ask("a(\"new\")").size(), 0U);
  session.add("a(\"new\"). a(\"newer\").\n");
  EXPECT_EQ(session.ask("a(\"new\"), a(s), match(\"new.*\", s)"), (row_texts{{"new"}, {"newer"}}));
  EXPECT_EQ(session.engines(), 1U);
}

/// The texts of both rules are equal after the analysis.
TEST(sessions, rules_are_compared_with_their_types) {
  const std::string declared = ".decl a(x:number)\na(-1). a(1).\n.decl b(x:number)\n";
  engine running(program::from_text(declared + "b(x) :- a(x), x < 2.\n"));
  running.evaluate();
  EXPECT_EQ(running.relation("b").size(), 2U);
  ASSERT_TRUE(running.change_program(running.read(declared + "b(x) :- a(x), as(x, unsigned) < as(2, unsigned).\n")));
  running.evaluate();
  EXPECT_EQ(running.relation("b").size(), 1U);
}

TEST(sessions, what_cannot_go_on_needs_another_engine) {
  const auto change = [](const std::string& before, const std::string& next) {
    engine running(program::from_text(before));
    running.evaluate();
    return running.change_program(running.read(next));
  };
  const std::string first = ".decl a(x:number)\na(1).\n.decl b(x:number)\nb(x) :- a(x).\n";
  EXPECT_TRUE(change(first, first + "a(2).\nb(3).\n.decl c(x:number)\n"));
  EXPECT_FALSE(change(first, ".decl a(x:number)\na(2).\n.decl b(x:number)\nb(x) :- a(x).\n"));
  EXPECT_FALSE(change(first, ".decl a(x:number)\na(1).\n.decl b(x:number)\nb(1).\n"));
  EXPECT_FALSE(change(first, ".decl a(x:unsigned)\na(1).\n.decl b(x:unsigned)\nb(x) :- a(x).\n"));
  EXPECT_FALSE(change(first, ".decl c(x:number)\n" + first));
  EXPECT_FALSE(change(first, ".decl a(x:number)\na(1).\n"));
  engine running(program::from_text(first));
  EXPECT_THROW((void)running.change_program(program::from_text(first)), input_error);
  EXPECT_THROW((void)running.change_program(running.read("a(1).")), input_error);
  running.evaluate();
  EXPECT_EQ(running.relation("b").size(), 1U);
}

}  // namespace
}  // namespace gpulog
