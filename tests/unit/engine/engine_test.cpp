#include "gpulog/engine.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>

#include "oracle/random_runs.hpp"
#include "oracle/without_sizes.hpp"
#include "scratch_folder.hpp"

namespace {

using gpulog::engine;
using gpulog::program;
using gpulog::storage_kind;

constexpr const char* reach_program = R"(
.decl edge(x:number, y:number)
.decl reach(x:number, y:number)
reach(x,y) :- edge(x,y).
reach(x,y) :- reach(x,z), edge(z,y).
)";

class both_storages : public testing::TestWithParam<storage_kind> {};
INSTANTIATE_TEST_SUITE_P(engine, both_storages, testing::Values(storage_kind::hash, storage_kind::hisa));

TEST_P(both_storages, closure_of_a_ring) {
  for (const int size : {0, 1, 31, 32, 33, gpulog::oracle::is_sanitized ? 150 : 600}) {
    for (const unsigned jobs : {1U, 2U, 4U}) {
      const auto source = program::from_text(reach_program);
      ASSERT_TRUE(source.ok()) << source.report();
      gpulog::run_options options;
      options.jobs = jobs;
      options.storage = GetParam();
      engine run(source, options);
      auto edge = run.relation("edge");
      for (int i = 0; i < size; ++i) edge.insert({i, (i + 1) % size});
      EXPECT_EQ(edge.size(), static_cast<std::uint64_t>(size));
      run.evaluate();
      const auto result = run.relation("reach");
      ASSERT_EQ(result.size(), static_cast<std::uint64_t>(size * size));
      std::set<std::pair<int, int>> seen;
      for (const auto row : result) seen.emplace(row.number(0), row.number(1));
      EXPECT_EQ(seen.size(), result.size());
      EXPECT_EQ(result.empty(), size == 0);
    }
  }
}

TEST(engine, all_types_go_in_and_come_out) {
  const auto source = program::from_text(
      ".decl in(n:number, u:unsigned, f:float, s:symbol)\n.decl out(n:number, u:unsigned, f:float, s:symbol)\n"
      "out(n,u,f,s) :- in(n,u,f,s).\n");
  ASSERT_TRUE(source.ok()) << source.report();
  engine run(source);
  run.relation("in").insert({-5, 4000000000U, 0.5F, "text"});
  run.evaluate();
  const auto out = run.relation("out");
  ASSERT_EQ(out.size(), 1U);
  const auto row = *out.begin();
  EXPECT_EQ(row.size(), 4U);
  EXPECT_EQ(row.number(0), -5);
  EXPECT_EQ(row.unsigned_number(1), 4000000000U);
  EXPECT_EQ(row.floating(2), 0.5F);
  EXPECT_EQ(row.symbol(3), "text");
  EXPECT_EQ(row.text(0) + "|" + row.text(1) + "|" + row.text(2) + "|" + row.text(3), "-5|4000000000|0.5|text");
  EXPECT_THROW((void)row.symbol(0), gpulog::input_error);
  EXPECT_THROW((void)row.word(4), gpulog::input_error);
  EXPECT_EQ(out.attributes()[1].type, "unsigned");
  EXPECT_EQ(out.attributes()[3].name, "s");
}

TEST(engine, words_of_64_bits_go_in_and_come_out) {
  const std::string text =
      ".decl in(n:number, u:unsigned, f:float)\n.decl out(n:number, u:unsigned, f:float)\n"
      "out(n + 1,u,f) :- in(n,u,f).\n";
  const auto source = program::from_text(text, {.word_size = 64});
  ASSERT_TRUE(source.ok()) << source.report();
  EXPECT_EQ(source.word_size(), 64U);
  for (const auto storage : {gpulog::storage_kind::hash, gpulog::storage_kind::hisa}) {
    gpulog::run_options options;
    options.storage = storage;
    engine run(source, options);
    run.relation("in").insert({std::int64_t{-5000000000}, ~std::uint64_t{0}, 0.1});
    run.relation("in").insert({41, 7U, 0.5F});
    run.evaluate();
    EXPECT_EQ(run.figures().word_size, 64U);
    const auto out = run.relation("out");
    ASSERT_EQ(out.size(), 2U);
    for (const auto row : out) {
      if (row.number64(0) == 42) {
        EXPECT_EQ(row.number(0), 42);
        EXPECT_EQ(row.unsigned_number(1), 7U);
        EXPECT_EQ(row.floating(2), 0.5F);
        EXPECT_EQ(row.unsigned_number64(1), 7U);
        continue;
      }
      EXPECT_EQ(row.number64(0), -4999999999);
      EXPECT_EQ(row.unsigned_number64(1), 18446744073709551615U);
      EXPECT_EQ(row.word64(1), 18446744073709551615U);
      EXPECT_EQ(row.floating64(2), 0.1);
      EXPECT_EQ(row.text(0) + "|" + row.text(1) + "|" + row.text(2),
                "-4999999999|18446744073709551615|0.10000000000000001");
      // Nothing is cut off.
      EXPECT_THROW((void)row.number(0), gpulog::input_error);
      EXPECT_THROW((void)row.unsigned_number(1), gpulog::input_error);
      EXPECT_THROW((void)row.word(1), gpulog::input_error);
      EXPECT_THROW((void)row.floating(2), gpulog::input_error);
    }
  }
  EXPECT_THROW((void)program::from_text(text, {.word_size = 16}), gpulog::input_error);
}

TEST(engine, values_of_another_width) {
  const auto source = program::from_text(".decl a(n:number, u:unsigned, f:float)\n");
  engine run(source);
  auto a = run.relation("a");
  a.insert({std::int64_t{-7}, std::uint64_t{4294967295}, 0.5});
  EXPECT_THROW(a.insert({std::int64_t{2147483648}, 1U, 0.5F}), gpulog::input_error);
  EXPECT_THROW(a.insert({1, std::uint64_t{4294967296}, 0.5F}), gpulog::input_error);
  EXPECT_THROW(a.insert({1, 1U, 0.1}), gpulog::input_error);
  run.evaluate();
  const auto row = *a.begin();
  EXPECT_EQ(row.number64(0), -7);
  EXPECT_EQ(row.unsigned_number64(1), 4294967295U);
  EXPECT_EQ(row.floating64(2), 0.5);
  EXPECT_EQ(row.word64(0), 4294967289U);
}

TEST(engine, values_have_to_fit) {
  const auto source = program::from_text(reach_program);
  engine run(source);
  auto edge = run.relation("edge");
  EXPECT_THROW(edge.insert({1}), gpulog::input_error);
  EXPECT_THROW(edge.insert({1, "x"}), gpulog::input_error);
  EXPECT_THROW(edge.insert({1, 2U}), gpulog::input_error);
  EXPECT_TRUE(edge.empty());
  EXPECT_THROW(edge.erase({1}), gpulog::input_error);
  EXPECT_THROW(edge.erase({1, "x"}), gpulog::input_error);
}

TEST(engine, names_of_relations) {
  engine run(program::from_text(reach_program));
  EXPECT_FALSE(run.find("nothing"));
  EXPECT_THROW((void)run.relation("nothing"), gpulog::input_error);
  ASSERT_EQ(run.relations().size(), 2U);
  EXPECT_EQ(run.relations()[1].name(), "reach");
  EXPECT_EQ(run.relations()[1].arity(), 2U);
}

TEST(engine, rejected_programs) {
  const auto source = program::from_text(".decl a(x:number)\na(x) :- b(x).\n", {}, "some.dl");
  EXPECT_FALSE(source.ok());
  ASSERT_EQ(source.diagnostics().size(), 1U);
  const gpulog::diagnostic& remark = source.diagnostics()[0];
  EXPECT_EQ(remark.level, gpulog::severity::error);
  EXPECT_EQ(remark.file, "some.dl");
  EXPECT_EQ(remark.line, 2U);
  EXPECT_GT(remark.column, 1U);
  EXPECT_EQ(source.report(),
            "Error: Undefined relation b in file some.dl at line 2\na(x) :- b(x).\n--------^-----\n1 errors generated, "
            "evaluation aborted\n");
  EXPECT_THROW(engine{source}, gpulog::input_error);
  EXPECT_THROW((void)program::from_file("/nowhere/x.dl"), gpulog::input_error);
}

TEST(engine, stages) {
  const auto source = program::from_text(reach_program);
  for (const std::string& stage : program::stages()) {
    const std::string text = source.show(stage);
    EXPECT_EQ(text.empty(), stage == "parse-errors") << stage;
  }
  EXPECT_THROW((void)source.show("everything"), gpulog::input_error);
  EXPECT_EQ(program::from_text("garbage").show("transformed-ram"), "");
  EXPECT_GT(program::from_text("garbage").syntax_error_count(), 0U);
}

TEST(engine, files_in_and_out) {
  const gpulog::scratch_folder folder;
  folder.write("edge.facts", "1\t2\n2\t3\n");
  const auto source = program::from_text(std::string(reach_program) + ".input edge\n.output reach\n");
  gpulog::run_options options;
  options.fact_directory = options.output_directory = folder.path();
  engine run(source, options);
  const auto& figures = run.run();
  EXPECT_EQ(folder.read("reach.csv").size(), std::string("1\t2\n1\t3\n2\t3\n").size());
  EXPECT_EQ(figures.loaded_tuples, 2U);
  EXPECT_EQ(figures.written_tuples, 3U);
  EXPECT_GT(figures.peak_relation_bytes, 0U);
  EXPECT_NE(gpulog::to_json(figures).find("\"loaded_tuples\": 2,\n"), std::string::npos);
}

TEST(engine, nothing_is_written_when_one_file_fails) {
  const gpulog::scratch_folder folder;
  const auto source =
      program::from_text(std::string(reach_program) + ".output reach\n.output edge(filename=\"missing/edge.csv\")\n");
  gpulog::run_options options;
  options.output_directory = folder.path();
  engine run(source, options);
  run.evaluate();
  EXPECT_THROW(run.write(), gpulog::output_error);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(engine, reports_appear_with_the_outputs) {
  const gpulog::scratch_folder folder;
  const auto source = program::from_text(std::string(reach_program) + ".output reach\n");
  gpulog::run_options options;
  options.output_directory = folder.path();
  options.report_files = {folder.path() + "/a.json", folder.path() + "/b.json"};
  {
    engine run(source, options);
    run.evaluate();
    EXPECT_FALSE(std::filesystem::exists(folder.path() + "/a.json"));
    run.write();
    EXPECT_EQ(folder.read("a.json"), gpulog::to_json(run.figures()));
    EXPECT_EQ(folder.read("b.json"), folder.read("a.json"));
    EXPECT_TRUE(std::filesystem::exists(folder.path() + "/reach.csv"));
  }
  std::filesystem::remove(folder.path() + "/a.json");
  { const engine never_run(source, options); }
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/a.json"));
  options.report_files = {folder.path() + "/missing/a.json"};
  EXPECT_THROW(engine(source, options), gpulog::output_error);
  options.report_files = {folder.path() + "/reach.csv"};
  EXPECT_THROW(engine(source, options), gpulog::input_error);
}

TEST(engine, two_outputs_of_one_file_are_refused) {
  const auto source = program::from_text(std::string(reach_program) + ".output reach\n.output edge(name=\"reach\")\n");
  ASSERT_TRUE(source.ok()) << source.report();
  EXPECT_THROW(engine{source}, gpulog::input_error);
  gpulog::run_options options;
  options.output_directory.clear();  // no output is written
  engine run(source, options);
  run.evaluate();
  run.write();
  EXPECT_FALSE(std::filesystem::exists("reach.csv"));
}

TEST(engine, faults_of_rules) {
  const auto source = program::from_text(".decl n(x:number)\n.decl a(x:number)\na(1/x) :- n(x).\n");
  ASSERT_TRUE(source.ok()) << source.report();
  engine run(source);
  run.relation("n").insert({0});
  EXPECT_THROW(run.evaluate(), gpulog::evaluation_error);
  EXPECT_THROW(run.write(), gpulog::input_error);
}

TEST_P(both_storages, memory_limit_names_the_rule) {
  const auto source = program::from_text(reach_program);
  gpulog::run_options options;
  options.memory_limit = 8U << 20;
  options.storage = GetParam();
  options.tuning["rows"] = "search";  // its rows have no columns, and are enough
  engine run(source, options);
  auto edge = run.relation("edge");
  constexpr int size = 3000;
  for (int i = 0; i < size; ++i) edge.insert({i, (i + 1) % size});
  try {
    run.evaluate();
    FAIL() << "8 MiB cannot be enough";
  } catch (const gpulog::memory_limit_error& failure) {
    const std::string doing = GetParam() == storage_kind::hisa ? "deduplicating" : "extending";
    EXPECT_EQ(gpulog::oracle::without_sizes(failure.what()),
              "Out of memory while " + doing +
                  " relation reach (N tuples, N bytes): N more bytes were needed with N bytes in use, and the limit is "
                  "8388608 bytes (raise it with memory_limit, or name a folder with spill)\n"
                  "in rule:\nreach(x,y) :- reach(x,z), edge(z,y).\nin file program.dl [5:1-5:37]");
  }
}

/// Returns the message of a run that a memory limit ends, without sizes; empty: the run succeeded.
std::string why_out_of_memory(const std::string& text, std::uint64_t limit, const std::vector<std::string>& symbols) {
  gpulog::run_options options;
  options.memory_limit = limit;
  options.backend = gpulog::backend_kind::cpu;  // a device would run out of memory at another place
  engine run(program::from_text(text), options);
  try {
    auto relation = run.relation("e");
    for (const std::string& symbol : symbols) relation.insert({symbol});
    run.evaluate();
  } catch (const gpulog::memory_limit_error& failure) {
    return gpulog::oracle::without_sizes(failure.what());
  }
  return "";
}

TEST(engine, memory_limit_counts_symbols_and_records) {
  const auto limit_of = [](const std::string& bytes) {
    return ", and the limit is " + bytes + " bytes (raise it with memory_limit, or name a folder with spill)";
  };
  // Relations of some kilobytes, texts of some megabytes.
  const std::string doubled =
      ".decl e(x:symbol)\n.decl r(x:symbol, n:number)\nr(x,0) :- e(x).\n"
      "r(cat(x,x),n+1) :- r(x,n), n < 24.\n";
  EXPECT_EQ(why_out_of_memory(doubled, 4U << 20, {"ab"}),
            "Out of memory while extending relation r (N tuples, N bytes): N more bytes were needed for symbols with "
            "N bytes in use, of which N for symbols" +
                limit_of("4194304") +
                "\nin rule:\nr(cat(x,x),(n+1)) :- r(x,n), n < 24.\nin file program.dl [4:1-4:35]");
  EXPECT_EQ(why_out_of_memory(doubled, 200U << 20, {"ab"}), "");
  EXPECT_EQ(
      why_out_of_memory(".decl e(x:symbol)\n.type L = [head:number, tail:L]\n.decl l(list:L)\nl(nil).\n"
                        "l([n,x]) :- e(_), l(x), n = range(0,40).\n.limitsize l(n=2000000)\n",
                        8U << 20, {"ab"}),
      "Out of memory while extending relation l (N tuples, N bytes): N more bytes were needed with N bytes in use, "
      "of which N for symbols and N for records" +
          limit_of("8388608") + "\nin rule:\nl([n,x]) :- e(_), l(x), n = range(0,40).\nin file program.dl [5:1-5:41]");
  std::vector<std::string> many;
  for (int number = 0; number < 3000; ++number) many.push_back(std::string(1000, 'x') + std::to_string(number));
  EXPECT_EQ(
      why_out_of_memory(".decl e(x:symbol)\n", 1U << 20, many),
      "Out of memory while inserting into relation e: N more bytes were needed for symbols with N bytes in use, of "
      "which N for symbols" +
          limit_of("1048576"));
  EXPECT_EQ(why_out_of_memory(".decl e(x:symbol)\n", 8U << 20, many), "");
}

TEST(engine, cancelling) {
  const std::atomic<bool> cancelled = true;
  gpulog::run_options options;
  options.cancelled = &cancelled;
  engine run(program::from_text(reach_program), options);
  run.relation("edge").insert({1, 2});
  EXPECT_THROW(run.evaluate(), gpulog::cancelled_error);
}

TEST(engine, progress_is_told_each_iteration) {
  std::vector<std::uint64_t> tuples;
  gpulog::run_options options;
  options.tuning["rows"] = "loop";  // a loop
  options.on_progress = [&](const gpulog::progress& now) {
    EXPECT_LT(now.stratum, now.stratum_count);
    EXPECT_EQ(now.iteration, tuples.size() + 1);
    tuples.push_back(now.tuples);
  };
  engine run(program::from_text(reach_program), options);
  auto edge = run.relation("edge");
  for (int i = 0; i < 10; ++i) edge.insert({i, i + 1});
  run.evaluate();
  ASSERT_GE(tuples.size(), 9U);
  EXPECT_EQ(tuples.back(), 55U);
}

TEST(engine, options_that_cannot_be_met) {
  const auto source = program::from_text(reach_program);
  gpulog::run_options options;
  options.backend = gpulog::backend_kind::gpu;
  options.device = 1000;  // neither without a GPU nor with any number of devices
  EXPECT_THROW(engine(source, options).evaluate(), gpulog::input_error);  // a device is awaited when there is work
  options.backend = gpulog::backend_kind::cpu;
  options.device = 1;
  EXPECT_THROW(engine(source, options), gpulog::input_error);
}

TEST(options, bytes) {
  EXPECT_EQ(gpulog::bytes_from_text("123"), 123U);
  EXPECT_EQ(gpulog::bytes_from_text("4G"), 4ULL << 30);
  EXPECT_EQ(gpulog::bytes_from_text("5k"), 5ULL << 10);
  EXPECT_EQ(gpulog::bytes_from_text("16383P"), std::nullopt);
  EXPECT_EQ(gpulog::bytes_from_text("16777215T"), 16777215ULL << 40);
  EXPECT_EQ(gpulog::bytes_from_text("16777216T"), std::nullopt);
  EXPECT_EQ(gpulog::bytes_from_text(""), std::nullopt);
  EXPECT_EQ(gpulog::bytes_from_text("G"), std::nullopt);
  EXPECT_EQ(gpulog::bytes_from_text("-1"), std::nullopt);
  EXPECT_EQ(gpulog::bytes_from_text("4GB"), std::nullopt);
}

}  // namespace
