#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gpulog/engine.hpp"

namespace {

using gpulog::engine;
using gpulog::input_error;
using gpulog::program;

using pairs = std::set<std::pair<int, int>>;

pairs pairs_of(engine& run, const char* name) {
  pairs result;
  for (const gpulog::tuple& row : run.relation(name)) result.emplace(row.number(0), row.number(1));
  return result;
}

const char* const reach =
    ".decl edge(x:number, y:number)\nedge(1,2).\n.decl reach(x:number, y:number)\n"
    "reach(x,y) :- edge(x,y).\nreach(x,z) :- reach(x,y), edge(y,z).\n"
    ".decl apart(x:number, y:number)\napart(x,y) :- reach(x,_), reach(_,y), !reach(x,y).\n"
    ".decl other(x:number, y:number)\nother(y,x) :- kept(x,y).\n.decl kept(x:number, y:number)\nkept(7,8).\n";

TEST(again, what_is_inserted_and_erased_changes_results) {
  engine run(program::from_text(reach));
  run.evaluate();
  EXPECT_EQ(pairs_of(run, "reach"), (pairs{{1, 2}}));
  run.relation("edge").insert({2, 3});
  EXPECT_EQ(pairs_of(run, "reach"), (pairs{{1, 2}}));  // until the next evaluation
  run.evaluate();
  EXPECT_EQ(pairs_of(run, "reach"), (pairs{{1, 2}, {1, 3}, {2, 3}}));
  EXPECT_EQ(pairs_of(run, "apart"), (pairs{{2, 2}}));
  EXPECT_TRUE(run.relation("reach").contains({1, 3}));
  run.relation("edge").erase({1, 2});
  run.evaluate();
  EXPECT_EQ(pairs_of(run, "reach"), (pairs{{2, 3}}));
  EXPECT_FALSE(run.relation("reach").contains({1, 3}));
  run.evaluate();  // nothing has changed
  EXPECT_EQ(pairs_of(run, "reach"), (pairs{{2, 3}}));
  EXPECT_EQ(pairs_of(run, "other"), (pairs{{8, 7}}));
}

TEST(again, the_last_change_of_a_tuple_counts) {
  engine run(program::from_text(reach));
  auto edge = run.relation("edge");
  edge.erase({1, 2});
  edge.insert({4, 5});
  run.evaluate();
  EXPECT_EQ(pairs_of(run, "edge"), (pairs{{4, 5}}));
  edge.insert({5, 6});
  edge.erase({5, 6});
  edge.erase({4, 5});
  edge.insert({4, 5});
  edge.erase({9, 9});
  run.evaluate();
  EXPECT_EQ(pairs_of(run, "edge"), (pairs{{4, 5}}));
}

/// An erased fact that rules also derive stays in the result.
TEST(again, derived_tuples_are_no_facts) {
  engine run(program::from_text(reach));
  auto derived = run.relation("reach");
  derived.insert({2, 9});
  run.evaluate();
  EXPECT_EQ(pairs_of(run, "reach"), (pairs{{1, 2}, {2, 9}}));
  derived.erase({1, 2});
  derived.erase({2, 9});
  run.evaluate();
  EXPECT_EQ(pairs_of(run, "reach"), (pairs{{1, 2}}));
}

TEST(again, strata_that_no_change_reaches_are_not_run) {
  engine run(program::from_text(reach));
  run.evaluate();
  run.relation("kept").insert({1, 1});
  run.evaluate();
  for (const gpulog::stratum_statistics& stratum : run.figures().strata) {
    const std::set<std::string> names(stratum.relations.begin(), stratum.relations.end());
    EXPECT_EQ(!stratum.rules.empty(), names.contains("other")) << stratum.relations.front();
  }
  EXPECT_EQ(pairs_of(run, "reach"), (pairs{{1, 2}}));
  EXPECT_EQ(pairs_of(run, "other"), (pairs{{1, 1}, {8, 7}}));
}

/// A debug_delta relation depends on another relation without an atom of this relation.
TEST(again, iterations_are_counted_anew) {
  engine run(program::from_text(std::string(reach) + ".decl found = debug_delta(reach)\n"));
  run.evaluate();
  const auto found = run.relation("found").size();
  run.relation("edge").insert({2, 3});
  run.evaluate();
  engine scratch(program::from_text(std::string(reach) + "edge(2,3).\n.decl found = debug_delta(reach)\n"));
  scratch.evaluate();
  EXPECT_GT(run.relation("found").size(), found);
  EXPECT_EQ(run.relation("found").size(), scratch.relation("found").size());
}

TEST(again, reset_forgets_what_was_inserted) {
  engine run(program::from_text(reach));
  run.relation("edge").insert({2, 3});
  run.evaluate();
  run.reset();
  EXPECT_EQ(run.relation("edge").size(), 0U);
  run.relation("edge").insert({3, 4});
  run.evaluate();
  EXPECT_EQ(pairs_of(run, "reach"), (pairs{{1, 2}, {3, 4}}));
}

TEST(again, an_evaluation_that_fails_is_reset) {
  engine run(program::from_text(".decl a(x:number)\n.decl b(x:number)\nb(1 / x) :- a(x).\n"));
  run.relation("a").insert({0});
  EXPECT_THROW(run.evaluate(), gpulog::evaluation_error);
  EXPECT_THROW(run.evaluate(), input_error);
  EXPECT_THROW(run.relation("a").insert({1}), input_error);
  EXPECT_THROW(run.relation("a").erase({1}), input_error);
  EXPECT_THROW(run.load(), input_error);
  run.reset();
  run.relation("a").insert({1});
  run.evaluate();
  EXPECT_TRUE(run.relation("b").contains({1}));
  run.relation("a").insert({0});
  EXPECT_THROW(run.evaluate(), gpulog::evaluation_error);
  run.reset();
  run.evaluate();
  EXPECT_EQ(run.relation("b").size(), 0U);
}

TEST(again, an_evaluation_that_is_cancelled_is_reset) {
  std::atomic<bool> cancelled = true;
  gpulog::run_options options;
  options.cancelled = &cancelled;
  engine run(program::from_text(reach), options);
  EXPECT_THROW(run.evaluate(), gpulog::cancelled_error);
  cancelled = false;
  EXPECT_THROW(run.evaluate(), input_error);
  run.reset();
  run.evaluate();
  EXPECT_EQ(pairs_of(run, "reach"), (pairs{{1, 2}}));
}

std::vector<std::string> names_of_spans(const gpulog::statistics& figures) {
  std::vector<std::string> names;
  for (const gpulog::span_statistics& span : figures.spans) {
    if (span.name != "device start") names.push_back(span.name);
  }
  return names;
}

/// Spans of all evaluations, and the plan of the last one.
TEST(again, the_record_goes_on) {
  engine run(program::from_text(reach));
  run.evaluate();
  const std::vector<std::string> first{"compile", "measure", "plan", "encode", "take over", "evaluate"};
  EXPECT_EQ(names_of_spans(run.figures()), first);
  run.relation("kept").insert({1, 1});
  run.evaluate();
  std::vector<std::string> both = first;
  both.insert(both.end(), {"take over", "measure", "plan", "encode", "take over", "evaluate"});
  EXPECT_EQ(names_of_spans(run.figures()), both);
  for (const gpulog::stratum_statistics& stratum : run.figures().strata) {
    for (const gpulog::rule_statistics& rule : stratum.rules) EXPECT_FALSE(rule.plan.empty());
  }
  for (const gpulog::relation_statistics& relation : run.figures().relations) {
    if (const auto declared = run.find(relation.name)) EXPECT_EQ(relation.tuples, declared->size()) << relation.name;
  }
  EXPECT_FALSE(gpulog::to_json(run.figures()).empty());
  run.reset();
  EXPECT_EQ(names_of_spans(run.figures()), std::vector<std::string>{"compile"});
  EXPECT_TRUE(run.figures().strata.empty());
}

/// An engine that is evaluated again writes its reports again and reports events in each evaluation.
TEST(again, reports_and_events) {
  const std::string path = ::testing::TempDir() + "again_report.json";
  std::vector<std::string> begun;
  gpulog::run_options options;
  options.report_files = {path};
  options.report_seconds = 0.001;
  options.output_directory = ::testing::TempDir();
  options.on_event = [&](const gpulog::run_event& event) {
    if (event.what == gpulog::run_event::kind::stratum_begins) begun.push_back(event.subject);
  };
  engine run(program::from_text(reach), options);
  const auto state_in_file = [&] {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  run.run();
  EXPECT_NE(state_in_file().find("\"complete\""), std::string::npos);
  begun.clear();
  run.relation("kept").insert({1, 1});
  run.load();
  run.evaluate();
  EXPECT_EQ(begun, std::vector<std::string>{"other"});
  EXPECT_EQ(run.figures().outcome.state, "unfinished");
  run.write();
  EXPECT_NE(state_in_file().find("\"complete\""), std::string::npos);
  run.reset();
  begun.clear();
  run.run();
  EXPECT_EQ(begun.size(), 3U);
  EXPECT_EQ(run.figures().outcome.state, "complete");
}

TEST(again, changes_while_it_evaluates_are_errors) {
  engine* running = nullptr;
  std::vector<std::string> messages;
  gpulog::run_options options;
  options.on_progress = [&](const gpulog::progress&) {
    const auto note = [&](const auto& action) {
      try {
        action();
        messages.emplace_back("none");
      } catch (const input_error& fault) {
        messages.emplace_back(fault.what());
      }
    };
    note([&] { running->relation("edge").insert({2, 3}); });
    note([&] { running->evaluate(); });
    note([&] { running->reset(); });
  };
  engine run(program::from_text(".decl edge(x:number, y:number)\nedge(1,2). edge(2,1).\n"
                                ".decl p(x:number, y:number)\np(x,y) :- edge(x,y).\np(x,z) :- p(x,y), p(y,z).\n"),
             options);
  running = &run;
  run.evaluate();
  ASSERT_GE(messages.size(), 3U);
  EXPECT_EQ(messages[0], "relation edge cannot be changed while the program is being evaluated");
  EXPECT_EQ(messages[1], "the program is being evaluated");
  EXPECT_EQ(messages[2], "the engine cannot be reset while the program is being evaluated");
  EXPECT_EQ(pairs_of(run, "p").size(), 4U);
}

}  // namespace
