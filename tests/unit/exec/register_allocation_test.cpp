// Registers of rules that are never needed at the same time are one: long rules take little memory, and relations are
// the same as by nested loops, in every mode.

#include "exec/fixpoint/register_allocation.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysed_text.hpp"
#include "exec/fixpoint/pipeline_builder.hpp"
#include "plan_run.hpp"

namespace gpulog::exec {
namespace {

const std::string edges_and_results = ".decl e(x:number, y:number)\n.decl r(x:number, n:number)\n";

/// r(x, n): every second aggregate is needed at the end, the others are not needed behind their test.
std::string many_aggregates(int count) {
  std::string body = "e(x, _)";
  std::string sum = "0";
  for (int i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    body += ", n" + number + " = count : { e(x, y" + number + "), y" + number + " >= " + number + " }";
    if (i % 2 == 0) sum += " + n" + number;
    if (i % 2 == 1) body += ", n" + number + " < 1000";
  }
  return edges_and_results + "r(x, " + sum + ") :- " + body + ".\n";
}

/// r(x, z) where a path of so many edges leads from x to z and visits no number below that of its second step.
std::string path(int edges) {
  std::string body = "e(x, v0), e(v0, v1)";
  for (int i = 2; i < edges; ++i) {
    body += ", e(v" + std::to_string(i - 1) + ", v" + std::to_string(i) + "), v" + std::to_string(i) + " >= v0";
  }
  return edges_and_results + "r(x, v" + std::to_string(edges - 1) + ") :- " + body + ".\n";
}

/// Of the program's only rule, for a CPU.
kernels::pipeline pipeline_of(const std::string& text) {
  const analysed_text source(text);
  plan::options planning;
  planning.modes.set("first-matches", tuning_mode::off);
  const plan::program plan = plan::make_plan(source.program, {}, planning);
  for (const plan::stratum& one : plan.strata) {
    for (const plan::rule_version& version : one.once.versions) {
      return build_pipeline(version, plan, place_indexes(plan), storage::storage_mode::hash, {nullptr, nullptr}, false,
                            true);
    }
  }
  ADD_FAILURE() << "no rule";
  return {};
}

TEST(register_allocation, registers_are_those_of_one_time) {
  // A rule of 200 aggregates has more than 600 variables; at most 100 results wait, beside what one aggregate needs.
  const kernels::pipeline aggregates = pipeline_of(many_aggregates(200));
  EXPECT_LT(aggregates.slot_count, 120U);
  // No more for a rule that is longer, where each variable is needed for two steps.
  EXPECT_EQ(pipeline_of(path(20)).slot_count, pipeline_of(path(60)).slot_count);
}

class register_allocations : public ::testing::TestWithParam<run_mode> {};
INSTANTIATE_TEST_SUITE_P(modes, register_allocations, ::testing::ValuesIn(all_run_modes()),
                         [](const auto& info) { return name_of(info.param); });

tuples rows_of_r(const std::string& text, const tuples& edges, const run_mode& mode) {
  const analysed_text source(text);
  const plan::program plan = plan::make_plan(source.program, {}, {});
  plan_run run(plan, mode);
  run.load(source.program.find_relation("e").value(), 2, edges);
  run->evaluate();
  return run.rows_of(source.program.find_relation("r").value());
}

TEST_P(register_allocations, aggregates_give_the_same) {
  tuples edges;
  for (word x = 0; x < 30; ++x) {
    for (word y = 0; y < x; ++y) edges.insert({x, y});
  }
  constexpr int count = 40;
  tuples expected;
  for (word x = 1; x < 30; ++x) {
    word sum = 0;
    for (word i = 0; i < count; i += 2) sum += x > i ? x - i : 0;
    expected.insert({x, sum});
  }
  EXPECT_EQ(rows_of_r(many_aggregates(count), edges, GetParam()), expected);
}

TEST_P(register_allocations, paths_are_the_same) {
  constexpr word nodes = 40;
  tuples edges;
  for (word x = 0; x < nodes; ++x) {
    edges.insert({x, (x * 7 + 3) % nodes});
    edges.insert({x, (x + 1) % nodes});
  }
  constexpr int length = 7;
  tuples expected;
  for (const auto& first : edges) {
    tuples reached = {{first[1]}};
    for (int step = 1; step < length; ++step) {
      tuples next;
      for (const auto& node : reached) {
        for (const auto& edge : edges) {
          if (edge[0] == node[0] && (step == 1 || edge[1] >= first[1])) next.insert({edge[1]});
        }
      }
      reached = next;
    }
    for (const auto& node : reached) expected.insert({first[0], node[0]});
  }
  EXPECT_EQ(rows_of_r(path(length), edges, GetParam()), expected);
}

}  // namespace
}  // namespace gpulog::exec
