// Pipelines for a device: steps that look up records, or need the host's texts, are segments of their own; the latter
// are run by host_step_runner.

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "analysed_text.hpp"
#include "exec/fixpoint/pipeline_builder.hpp"
#include "kernels/steps/host_steps.hpp"
#include "plan/reads.hpp"

namespace gpulog::exec {
namespace {

using kernels::expansion_kind;

/// The pipeline of a program's only rule version, and what it refers to.
struct built_rule {
  explicit built_rule(const std::string& text, bool for_device = true)
      : source(text), plan(plan::make_plan(source.program)), symbols(plan.symbols) {
    for (const plan::stratum& stratum : plan.strata) {
      for_each_version(stratum, [&](const plan::rule_version& version) {
        pipeline = build_pipeline(version, plan, place_indexes(plan), storage::storage_mode::hash, {&symbols, &records},
                                  for_device);
      });
    }
    pipeline.counter = &counter;
  }

  /// One letter a segment, with the number of its steps.
  [[nodiscard]] std::string shape() const {
    std::string text;
    for (const kernels::segment& one : pipeline.segments) {
      text += std::string(text.empty() ? "" : " ") + "usmrfxhp"[static_cast<std::size_t>(one.kind)] +
              std::to_string(one.steps.size());
    }
    return text;
  }

  analysed_text source;
  plan::program plan;
  storage::symbol_table symbols;
  storage::record_tables records;
  std::atomic<wide_word> counter = 7;
  kernels::pipeline pipeline;
};

const char* const declarations =
    ".decl a(x:number, y:number)\n.decl s(x:symbol)\n.type pair = [x:number, y:number]\n.decl p(r:pair)\n"
    ".decl n(x:number, y:number)\n.decl t(x:symbol)\n";

TEST(device_pipeline, host_steps_are_segments) {
  const std::string text = declarations;
  EXPECT_EQ(built_rule(text + "n(x,z) :- a(x,y), a(y,z), x < z.").shape(), "s0 m1");
  EXPECT_EQ(built_rule(text + "t(cat(x,\"!\")) :- s(x).").shape(), "s0 h1 u0");
  EXPECT_EQ(built_rule(text + "t(cat(x,\"!\")) :- s(x).", false).shape(), "s1");
  EXPECT_EQ(built_rule(text + "n(strlen(x),strlen(x)+1) :- s(x), match(\"a.*\",x).").shape(), "s0 h2 u1");
  EXPECT_EQ(built_rule(text + "n(y,z) :- p([x,y]), a(x,z).").shape(), "s1 m0");
  EXPECT_EQ(built_rule(text + "n(x,c) :- a(x,_), c = count : { p([x,_]) }.").shape().find("f0 "), 3U);
}

TEST(device_pipeline, records_are_looked_up_in_segments_of_one_table) {
  const std::string text = std::string(declarations) +
                           ".type triple = [p:pair, q:pair, n:number]\n.decl t3(r:triple)\n" +
                           ".type list = [head:number, tail:list]\n.decl l(r:list)\n";
  EXPECT_EQ(built_rule(text + "p([x,y]) :- a(x,y).").shape(), "s0 p1 u0");
  EXPECT_EQ(built_rule(text + "p([x,y]) :- a(x,y).", false).shape(), "s1");
  EXPECT_EQ(built_rule(text + "l([x,[y,nil]]) :- a(x,y).").shape(), "s0 p2 u0") << "an inner record is made first";
  EXPECT_EQ(built_rule(text + "t3([[x,y],[y,x],1]) :- a(x,y).").shape(), "s0 p2 p1 u0") << "two arities, two tables";
  EXPECT_EQ(built_rule(text + "n(x,y) :- a(x,y), p([y,x]).").shape(), "s0 p1 u1") << "one that is found is tested";
  EXPECT_EQ(built_rule(text + "l([strlen(x),nil]) :- s(x).").shape(), "s0 h1 p1 u0");
  EXPECT_EQ(built_rule(text + "l([x,[y,nil]]), n(x,z) :- a(x,y), z = x + y.").shape(), "s0 p2 u0");
}

TEST(device_pipeline, host_steps_run_over_tiles) {
  const built_rule rule(std::string(declarations) + "n(strlen(x),strlen(x)) :- s(x), contains(\"b\",x).");
  const kernels::segment* host = nullptr;
  for (const kernels::segment& one : rule.pipeline.segments) {
    if (one.kind == expansion_kind::host) host = &one;
  }
  ASSERT_NE(host, nullptr);
  auto& symbols = const_cast<storage::symbol_table&>(rule.symbols);
  std::vector<std::vector<word>> columns(rule.pipeline.slot_count, std::vector<word>(storage::tile_rows));
  std::vector<word*> registers;
  for (auto& column : columns) registers.push_back(column.data());
  ASSERT_EQ(host->carried.size(), 1U);
  const std::vector<std::string> texts = {"abc", "x", "b", "yy", "bbbb"};
  for (std::size_t i = 0; i < texts.size(); ++i) columns[host->carried[0]][i] = symbols.intern(texts[i]);
  kernels::host_step_runner runner(rule.pipeline);
  ASSERT_EQ(runner.run(*host, registers, static_cast<std::uint32_t>(texts.size())), 3U);
  const std::vector<word>& lengths = columns[rule.pipeline.head[0]];
  EXPECT_EQ(std::vector<word>(lengths.begin(), lengths.begin() + 3), (std::vector<word>{3, 1, 4}));
  EXPECT_EQ(runner.run(*host, registers, 0), 0U);
}

TEST(device_pipeline, host_steps_count) {
  built_rule rule(std::string(declarations) + ".decl q(x:number, i:number)\nq(x,autoinc()) :- a(x,_).");
  const kernels::segment* host = nullptr;
  for (const kernels::segment& one : rule.pipeline.segments) {
    if (one.kind == expansion_kind::host) host = &one;
  }
  ASSERT_NE(host, nullptr);
  std::vector<std::vector<word>> columns(rule.pipeline.slot_count, std::vector<word>(storage::tile_rows));
  std::vector<word*> registers;
  for (auto& column : columns) registers.push_back(column.data());
  kernels::host_step_runner runner(rule.pipeline);
  ASSERT_EQ(runner.run(*host, registers, 2), 2U);
  EXPECT_EQ(columns[rule.pipeline.head[1]][0], 7U);
  EXPECT_EQ(columns[rule.pipeline.head[1]][1], 8U);
}

}  // namespace
}  // namespace gpulog::exec
