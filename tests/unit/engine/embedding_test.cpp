// The pieces of C++ of docs/embedding.md, compiled and run; tests/docs/test_documents.py compares them with the
// document.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <ostream>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "gpulog/engine.hpp"
#include "scratch_folder.hpp"

int distance_to(const std::string& town) {
  const auto program = gpulog::program::from_text(R"(
    .decl road(from:symbol, to:symbol, km:number)
    .decl town(name:symbol)
    town(x), town(y) :- road(x, y, _).
    .decl distance(to:symbol, km:number)
    distance("Linz", 0).
    distance(y, d) :- town(y), d = min c + km : { distance(x, c), road(x, y, km) }.
  )");
  if (!program.ok()) throw std::runtime_error(program.report());

  gpulog::engine engine(program);
  auto road = engine.relation("road");
  road.insert({"Linz", "Wels", 30});
  road.insert({"Wels", "Salzburg", 100});
  road.insert({"Linz", "Salzburg", 140});
  engine.evaluate();

  for (const gpulog::tuple row : engine.relation("distance")) {
    if (row.symbol(0) == town) return row.number(1);
  }
  return -1;
}

std::vector<std::string> slugs_of(const std::vector<std::string>& titles) {
  const auto program = gpulog::program::from_text(R"(
    .functor slug(title:symbol):symbol
    .decl title(t:symbol)
    .decl page(slug:symbol)
    page(@slug(t)) :- title(t).
  )");
  gpulog::run_options options;
  options.functors["slug"] = gpulog::row_functor([](std::string_view title) {
    std::string slug(title);
    std::replace(slug.begin(), slug.end(), ' ', '-');
    return slug;
  });
  gpulog::engine engine(program, options);
  engine.relation("title").insert_columns({titles});
  engine.evaluate();

  std::vector<std::string> slugs;
  for (const gpulog::tuple row : engine.relation("page")) slugs.emplace_back(row.symbol(0));
  return slugs;
}

void set_doubled(gpulog::run_options& options) {
  options.functors["doubled"] = [](std::span<const gpulog::column_values> arguments,
                                   const gpulog::result_values& results) {
    const auto numbers = std::get<std::span<const std::int32_t>>(arguments[0]);
    const auto doubled = std::get<std::span<std::int32_t>>(results);
    for (std::size_t row = 0; row < doubled.size(); ++row) doubled[row] = 2 * numbers[row];
  };
}

void hand_over(const gpulog::relation& from, gpulog::relation to) {
  ArrowArrayStream rows;
  from.to_arrow(rows, {.dictionaries = true});
  to.insert_arrow(rows);
  rows.release(&rows);
}

const void* address_on_device(const gpulog::relation& relation) {
  const std::optional<gpulog::device_column> column = relation.on_device(0);
  return column && column->vendor == "cuda" ? column->values : nullptr;
}

std::int64_t sum_of_column(const gpulog::relation& relation, std::size_t number) {
  const gpulog::host_column column = relation.column(number);
  std::int64_t sum = 0;
  for (const std::int32_t value : std::get<std::span<const std::int32_t>>(column.values)) sum += value;
  return sum;
}

void insert_from_device(gpulog::relation relation, const std::int32_t* numbers, std::uint64_t rows) {
  gpulog::device_column column;
  column.values = numbers;
  column.rows = rows;
  column.format = "i";  // as Arrow has it: std::int32_t
  column.vendor = "cuda";
  relation.insert_device_columns(std::span<const gpulog::device_column>(&column, 1));
}

std::uint64_t connections_with(gpulog::engine& engine, const std::string& text, const std::string& more) {
  const gpulog::program longer = engine.read(text + more);
  if (!longer.ok() || !engine.change_program(longer)) throw std::runtime_error(longer.report());
  engine.evaluate();
  return engine.relation("connection").size();
}

std::string table_of(const gpulog::relation& relation) {
  std::string text;
  for (const gpulog::attribute& column : relation.attributes()) text += column.name + ":" + column.type + " ";
  text += "\n";
  for (const gpulog::tuple row : relation) {
    for (std::size_t column = 0; column < row.size(); ++column) text += row.text(column) + " ";
    text += "\n";
  }
  return text;
}

void insert_roads(gpulog::engine& engine, const std::vector<std::string>& from, const std::vector<std::string>& to,
                  const std::vector<int>& km) {
  engine.relation("road").insert_columns({from, to, km});
}

bool are_connected(gpulog::engine& engine, const std::string& from, const std::string& to) {
  return engine.relation("connection").contains({from, to});
}

std::int32_t sum_of(const std::vector<std::int32_t>& numbers) {
  const auto program = gpulog::program::from_text(R"(
    .type Tree = Leaf {x:number} | Sum {left:Tree, right:Tree}
    .decl tree(t:Tree)
    .decl part(t:Tree)
    part(t) :- tree(t).
    part(x), part(y) :- part($Sum(x, y)).
    .decl value(t:Tree, x:number)
    value($Leaf(x), x) :- part($Leaf(x)).
    value($Sum(l, r), x + y) :- part($Sum(l, r)), value(l, x), value(r, y).
  )");
  gpulog::branch tree("Leaf", {0});
  for (const std::int32_t number : numbers) tree = gpulog::branch("Sum", {gpulog::branch("Leaf", {number}), tree});

  gpulog::engine engine(program);
  engine.relation("tree").insert({tree});
  engine.evaluate();
  for (const gpulog::tuple row : engine.relation("value")) {
    if (row.value(0) == gpulog::value(tree)) return row.number(1);
  }
  return 0;
}

std::uint64_t connections_after(gpulog::engine& engine, const std::string& from, const std::string& to,
                                const std::string& closed) {
  auto road = engine.relation("road");
  road.insert({from, to});
  road.erase({from, closed});
  engine.evaluate();
  return engine.relation("connection").size();
}

std::vector<std::string> lost_connections(gpulog::engine& engine, const std::string& from, const std::string& to) {
  engine.relation("road").erase({from, to});
  engine.evaluate();
  std::vector<std::string> lost;
  const gpulog::changed_rows changes = engine.changes("connection");
  const gpulog::host_column ends = changes.removed.column(1);
  for (const std::string_view end : std::get<std::span<const std::string_view>>(ends.values)) lost.emplace_back(end);
  return lost;
}

void watch(gpulog::engine& engine, std::ostream& log) {
  engine.on_change("connection", [&log](const gpulog::changed_rows& changes) {
    log << changes.added.size() << " new, " << changes.removed.size() << " lost\n";
  });
}

std::string signatures_of(const gpulog::program& program) {
  std::string text;
  for (const gpulog::relation_declaration& relation : program.relations()) {
    text += relation.name + "(";
    for (const gpulog::attribute& column : relation.attributes) text += " " + column.name + ":" + column.declared_type;
    text += relation.is_output ? " ) is an output\n" : " )\n";
  }
  return text;
}

std::vector<std::string> destinations(const std::string& text, const std::string& from) {
  gpulog::compile_options options;
  options.queries.push_back({"connection(\"" + from + "\", to)"});
  const auto program = gpulog::program::from_text(text, options);
  if (!program.ok()) throw std::runtime_error(program.report());
  gpulog::engine engine(program);
  engine.evaluate();
  std::vector<std::string> result;
  for (const gpulog::tuple row : engine.relation(program.queries().front().name)) result.push_back(row.text(0));
  return result;
}

std::size_t count_of_destinations(gpulog::engine& engine, const std::string& from) {
  const gpulog::answer answer = engine.query("connection(\"" + from + "\", to)");
  const gpulog::host_column column = answer.column(0);
  return std::get<std::span<const std::string_view>>(column.values).size();
}

std::vector<std::string> errors_of(const std::string& text) {
  gpulog::compile_options options;
  options.warnings = false;
  const auto program = gpulog::program::from_text(text, options, "rules.dl");
  std::vector<std::string> result;
  for (const gpulog::diagnostic& remark : program.diagnostics()) {
    if (remark.level != gpulog::severity::error) continue;
    result.push_back(remark.file + ":" + std::to_string(remark.line) + ": " + remark.message);
  }
  return result;
}

gpulog::statistics run_files(const std::string& file, const std::string& facts, const std::string& results) {
  const auto program = gpulog::program::from_file(file);
  if (!program.ok()) throw std::runtime_error(program.report());

  gpulog::run_options options;
  options.fact_directory = facts;
  options.output_directory = results;
  options.jobs = 0;                               // as many threads as there are processors
  options.memory_limit = std::uint64_t{4} << 30;  // 4 GB
  gpulog::engine engine(program, options);
  return engine.run();
}

std::string outcome_of(gpulog::engine& engine) {
  try {
    engine.run();
    return "done";
  } catch (const gpulog::memory_limit_error&) {
    return "not enough memory";
  } catch (const gpulog::error& problem) {
    return problem.what();
  }
}

std::uint64_t tuples_until(const gpulog::program& program, std::uint64_t most) {
  std::atomic<bool> cancelled = false;
  std::uint64_t tuples = 0;
  gpulog::run_options options;
  options.cancelled = &cancelled;
  options.on_progress = [&](const gpulog::progress& state) {
    tuples = state.tuples;
    if (tuples > most) cancelled = true;
  };
  gpulog::engine engine(program, options);
  try {
    engine.evaluate();
  } catch (const gpulog::cancelled_error&) {
  }
  return tuples;
}

namespace {

TEST(embedding, facts_in_and_results_out) {
  EXPECT_EQ(distance_to("Linz"), 0);
  EXPECT_EQ(distance_to("Salzburg"), 130);
  EXPECT_EQ(distance_to("Vienna"), -1);
}

TEST(embedding, a_relation_as_a_table) {
  const auto program = gpulog::program::from_text(".decl r(x:number, s:symbol)\nr(1, \"one\").\n");
  gpulog::engine engine(program);
  engine.evaluate();
  EXPECT_EQ(table_of(engine.relation("r")), "x:number s:symbol \n1 one \n");
}

TEST(embedding, facts_come_as_columns) {
  const auto program = gpulog::program::from_text(".decl road(from:symbol, to:symbol, km:number)\n");
  gpulog::engine engine(program);
  insert_roads(engine, {"Linz", "Wels"}, {"Wels", "Salzburg"}, {30, 100});
  engine.evaluate();
  EXPECT_EQ(engine.relation("road").size(), 2U);
  EXPECT_TRUE(engine.relation("road").contains({"Wels", "Salzburg", 100}));
}

TEST(embedding, tuples_of_one_engine_are_facts_of_another) {
  gpulog::engine from(gpulog::program::from_text(".decl a(x:number, s:symbol)\na(1, \"one\").\n"));
  gpulog::engine to(gpulog::program::from_text(".decl b(x:number, s:symbol)\n"));
  from.evaluate();
  hand_over(from.relation("a"), to.relation("b"));
  EXPECT_EQ(table_of(to.relation("b")), "x:number s:symbol \n1 one \n");
}

TEST(embedding, functors_of_the_program_that_embeds) {
  EXPECT_EQ(slugs_of({"The way of a tuple"}), std::vector<std::string>{"The-way-of-a-tuple"});
  gpulog::run_options options;
  set_doubled(options);
  gpulog::engine engine(
      gpulog::program::from_text(".functor doubled(x:number):number\n.decl a(x:number)\na(@doubled(x)) :- x = 21.\n"),
      options);
  engine.evaluate();
  EXPECT_TRUE(engine.relation("a").contains({42}));
}

TEST(embedding, a_tuple_is_looked_for) {
  const auto program =
      gpulog::program::from_text(".decl connection(x:symbol, y:symbol)\nconnection(\"Linz\", \"Wels\").\n");
  gpulog::engine engine(program);
  engine.evaluate();
  EXPECT_TRUE(are_connected(engine, "Linz", "Wels"));
  EXPECT_FALSE(are_connected(engine, "Wels", "Linz"));
}

TEST(embedding, of_the_host_no_column_is_on_a_device) {
  gpulog::run_options options;
  options.backend = gpulog::backend_kind::cpu;
  gpulog::engine engine(gpulog::program::from_text(".decl a(x:number)\na(1).\n"), options);
  engine.evaluate();
  EXPECT_EQ(address_on_device(engine.relation("a")), nullptr);
}

TEST(embedding, a_column_as_a_span) {
  const auto program = gpulog::program::from_text(".decl a(s:symbol, x:number)\na(\"a\", 4). a(\"b\", 5).\n");
  gpulog::engine engine(program);
  engine.evaluate();
  EXPECT_EQ(sum_of_column(engine.relation("a"), 1), 9);
  EXPECT_THROW((void)sum_of_column(engine.relation("a"), 0), std::bad_variant_access);
}

TEST(embedding, a_column_of_a_device_that_is_not_there) {
  if (gpulog::backend_from_name("cuda")) GTEST_SKIP() << "this build has devices of CUDA";
  gpulog::engine engine(gpulog::program::from_text(".decl a(x:number)\n"));
  EXPECT_THROW(insert_from_device(engine.relation("a"), nullptr, 3), gpulog::input_error);
}

TEST(embedding, programs_change) {
  const std::string text =
      ".decl road(x:symbol, y:symbol)\nroad(\"Linz\", \"Wels\").\n"
      ".decl connection(x:symbol, y:symbol)\nconnection(x, y) :- road(x, y).\n";
  gpulog::engine engine(gpulog::program::from_text(text));
  engine.evaluate();
  EXPECT_EQ(connections_with(engine, text, "road(\"Wels\", \"Enns\").\nconnection(y, x) :- road(x, y).\n"), 4U);
  EXPECT_THROW((void)connections_with(engine, text, ""), std::runtime_error);
}

TEST(embedding, branches_in_and_out) { EXPECT_EQ(sum_of({1, 20, 300}), 321); }

TEST(embedding, facts_change) {
  const auto program = gpulog::program::from_text(
      ".decl road(x:symbol, y:symbol)\nroad(\"Linz\", \"Wels\"). road(\"Wels\", \"Enns\").\n"
      ".decl connection(x:symbol, y:symbol)\nconnection(x,y) :- road(x,y).\n"
      "connection(x,z) :- connection(x,y), road(y,z).\n");
  gpulog::engine engine(program);
  engine.evaluate();
  EXPECT_EQ(engine.relation("connection").size(), 3U);
  EXPECT_EQ(connections_after(engine, "Linz", "Enns", "Wels"), 2U);
}

TEST(embedding, changes_are_known) {
  gpulog::run_options options;
  options.changes = true;
  gpulog::engine engine(
      gpulog::program::from_text(".decl road(x:symbol, y:symbol)\nroad(\"Linz\", \"Wels\"). road(\"Linz\", \"Enns\").\n"
                                 ".decl connection(x:symbol, y:symbol)\nconnection(x, y) :- road(x, y).\n"),
      options);
  std::ostringstream log;
  watch(engine, log);
  engine.evaluate();
  EXPECT_EQ(lost_connections(engine, "Linz", "Enns"), std::vector<std::string>{"Enns"});
  EXPECT_EQ(log.str(), "2 new, 0 lost\n0 new, 1 lost\n");
}

TEST(embedding, queries) {
  EXPECT_EQ(destinations(".decl connection(x:symbol, y:symbol)\nconnection(\"Linz\", \"Wels\").\n", "Linz"),
            std::vector<std::string>{"Wels"});
  gpulog::engine engine(gpulog::program::from_text(
      ".decl connection(x:symbol, y:symbol)\nconnection(\"Linz\", \"Wels\"). connection(\"Linz\", \"Enns\").\n"));
  EXPECT_EQ(count_of_destinations(engine, "Linz"), 2U);
}

TEST(embedding, relations_of_a_program) {
  const auto program = gpulog::program::from_text(
      ".type Town <: symbol\n.decl road(a:Town, b:Town)\nroad(\"x\", \"y\").\n.decl end(t:Town)\n.output end\n"
      "end(t) :- road(_, t).\n");
  EXPECT_EQ(signatures_of(program), "road( a:Town b:Town )\nend( t:Town ) is an output\n");
}

TEST(embedding, errors_are_listed) {
  EXPECT_TRUE(errors_of(".decl a(x:number)\na(1).\n").empty());
  const std::vector<std::string> found = errors_of(".decl a(x:number)\nb(1).\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front(), "rules.dl:2: Undefined relation b");
}

TEST(embedding, files) {
  const gpulog::scratch_folder folder;
  std::ofstream(folder.path("program.dl"))
      << ".decl a(x:number)\n.input a\n.decl b(x:number)\n.output b\nb(x+1) :- a(x).\n";
  std::ofstream(folder.path("a.facts")) << "1\n5\n";
  const gpulog::statistics figures = run_files(folder.path("program.dl"), folder.path(""), folder.path(""));
  EXPECT_EQ(figures.written_tuples, 2U);
  EXPECT_TRUE(std::filesystem::exists(folder.path("b.csv")));
}

TEST(embedding, outcomes) {
  const auto program = gpulog::program::from_text(".decl a(x:number)\na(0).\n.decl b(x:number)\nb(1/x) :- a(x).\n");
  gpulog::engine failing(program);
  EXPECT_EQ(outcome_of(failing),
            "Floating-point arithmetic exception signal in rule:\nb((1/x)) :- a(x).\nin file program.dl [4:1-4:16]");
  const auto right = gpulog::program::from_text(".decl a(x:number)\na(0).\n");
  gpulog::engine running(right);
  EXPECT_EQ(outcome_of(running), "done");
}

TEST(embedding, a_run_is_cancelled) {
  const auto program = gpulog::program::from_text(".decl a(x:number)\na(0).\na(x+1) :- a(x), x < 1000000.\n");
  EXPECT_GT(tuples_until(program, 100), 100U);
  EXPECT_LT(tuples_until(program, 100), 100000U);
}

}  // namespace
