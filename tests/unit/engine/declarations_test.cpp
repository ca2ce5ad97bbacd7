// What a program says of its relations, and whether they have a tuple.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "device_here.hpp"
#include "gpulog/engine.hpp"

namespace {

using gpulog::engine;
using gpulog::program;

constexpr const char* typed = R"(
.type Town <: symbol
.type Place = Town
.type Pair = [x:number, y:Pair]
.type Tree = Leaf {} | Node {left:Tree, right:Tree}
.decl road(from:Town, to:Place, km:unsigned)
.input road
.decl shape(p:Pair, t:Tree, f:float)
.comp C { .decl r(x:number) r(1). }
.init c = C
.output shape, c.r
.printsize road
)";

std::string text_of(const std::vector<gpulog::relation_declaration>& relations) {
  std::string text;
  for (const gpulog::relation_declaration& relation : relations) {
    text += relation.name + "(";
    for (const gpulog::attribute& column : relation.attributes) {
      text += column.name + ":" + column.declared_type + ":" + column.type + " ";
    }
    text += std::string(")") + (relation.is_input ? "i" : "") + (relation.is_output ? "o" : "") + "\n";
  }
  return text;
}

TEST(declarations, relations_inputs_and_outputs) {
  const auto source = program::from_text(typed);
  ASSERT_TRUE(source.ok()) << source.report();
  const std::string road = "road(from:Town:symbol to:Place:symbol km:unsigned:unsigned )i\n";
  const std::string others = "shape(p:Pair:record t:Tree:adt f:float:float )o\nc.r(x:number:number )o\n";
  EXPECT_EQ(text_of(source.relations()), road + others);
  EXPECT_EQ(text_of(source.inputs()), road);
  EXPECT_EQ(text_of(source.outputs()), others);
  engine run(source);
  EXPECT_EQ(run.relation("shape").attributes()[0].declared_type, "Pair");
}

TEST(declarations, of_a_rejected_program_there_are_none) {
  EXPECT_TRUE(program::from_text(".decl a(x:number)\nb(1).\n").relations().empty());
}

TEST(declarations, facts_with_their_places) {
  const std::string text = typed + std::string("#define KM 5\nroad(\"a\", \"b\",  KM).\nshape(nil, $Leaf(), 1.5).\n");
  const auto source = program::from_text(text, {}, "main.dl");
  ASSERT_TRUE(source.ok()) << source.report();
  std::vector<std::string> facts, places;
  for (const gpulog::program_fact& fact : source.facts()) {
    EXPECT_EQ(fact.path, "main.dl");
    facts.push_back(fact.text);
    places.push_back(text.substr(fact.begin, fact.end - fact.begin));
  }
  EXPECT_EQ(facts, (std::vector<std::string>{"c.r(1)", "road(\"a\",\"b\",5)", "shape(0,$Leaf,1.5)"}));
  EXPECT_EQ(places, (std::vector<std::string>{"r(1)", "road(\"a\", \"b\",  KM)", "shape(nil, $Leaf(), 1.5)"}));
  EXPECT_TRUE(program::from_text(".decl a(x:number)\na(1). b(1).\n").facts().empty());
}

TEST(declarations, what_the_caller_fills_is_not_warned_of) {
  const std::string text =
      ".decl edge(x:number)\n.decl other(x:number)\n.decl out(x:number)\nout(x) :- edge(x), other(x).\n";
  EXPECT_EQ(program::from_text(text).diagnostics().size(), 2U);
  gpulog::compile_options options;
  options.filled_relations = {"edge"};
  const auto some = program::from_text(text, options);
  ASSERT_EQ(some.diagnostics().size(), 1U);
  EXPECT_EQ(some.diagnostics().front().message, "No rules/facts defined for relation other");
  options.filled_relations = {"edge", "other"};
  const auto all = program::from_text(text, options);
  EXPECT_EQ(all.report(), "");
  engine run(all);
  run.relation("edge").insert({1});
  run.relation("other").insert({1});
  run.evaluate();
  EXPECT_EQ(run.relation("out").size(), 1U);
}

TEST(declarations, names_that_there_are_not_are_errors_with_a_suggestion) {
  const std::string text = ".decl edge(x:number)\nedge(1).\n";
  const auto message_of = [](const auto& work) {
    try {
      work();
    } catch (const gpulog::input_error& problem) {
      return std::string(problem.what());
    }
    return std::string("none");
  };
  gpulog::compile_options options;
  options.filled_relations = {"egde"};
  EXPECT_EQ(message_of([&] { (void)program::from_text(text, options); }),
            "There is no relation egde, did you mean 'edge'?");
  engine run(program::from_text(text));
  EXPECT_EQ(message_of([&] { (void)run.relation("edges"); }), "There is no relation edges, did you mean 'edge'?");
  EXPECT_EQ(message_of([&] { (void)run.relation("something"); }), "There is no relation something");
  EXPECT_FALSE(run.find("edges").has_value());
}

/// Every storage, on the cpu and, where there is one, on a device.
class everywhere : public testing::TestWithParam<gpulog::storage_kind> {
 protected:
  static std::vector<gpulog::run_options> options() {
    std::vector<gpulog::run_options> all(1);
    all[0].backend = gpulog::backend_kind::cpu;
    all[0].storage = GetParam();
    if (gpulog::has_device()) {
      all.push_back(all[0]);
      all[1].backend = gpulog::backend_kind::gpu;
    }
    return all;
  }
};
INSTANTIATE_TEST_SUITE_P(contains, everywhere,
                         testing::Values(gpulog::storage_kind::automatic, gpulog::storage_kind::hisa,
                                         gpulog::storage_kind::bits));

TEST_P(everywhere, tuples_of_a_closure) {
  const auto source = program::from_text(
      ".decl edge(x:number, y:number)\n.decl reach(x:number, y:number)\nreach(x,y) :- edge(x,y).\n"
      "reach(x,y) :- reach(x,z), edge(z,y).\n");
  for (const int size : {0, 1, 31, 32, 33, 70}) {
    for (const gpulog::run_options& chosen : options()) {
      engine run(source, chosen);
      auto edge = run.relation("edge");
      for (int i = 0; i < size; ++i) {
        EXPECT_FALSE(edge.contains({i, i + 1}));
        edge.insert({i, i + 1});
        EXPECT_TRUE(edge.contains({i, i + 1}));
      }
      run.evaluate();
      const auto reach = run.relation("reach");
      for (int x = 0; x <= size + 1; ++x) {
        for (int y = 0; y <= size + 1; ++y) {
          EXPECT_EQ(reach.contains({x, y}), x < y && y <= size) << size << ": " << x << ", " << y;
        }
        EXPECT_EQ(edge.contains({x, x + 1}), x < size);
      }
    }
  }
}

TEST_P(everywhere, values_of_all_types) {
  for (const unsigned word_size : {32U, 64U}) {
    const auto source = program::from_text(
        ".decl in(n:number, u:unsigned, f:float, s:symbol)\n.decl out(n:number, u:unsigned, f:float, s:symbol)\n"
        "out(n,u,f,s) :- in(n,u,f,s).\n",
        {.word_size = word_size});
    for (const gpulog::run_options& chosen : options()) {
      engine run(source, chosen);
      run.relation("in").insert({-5, 4000000000U, -0.0F, "text"});
      if (word_size == 64) run.relation("in").insert({std::int64_t{-5000000000}, ~std::uint64_t{0}, 0.1, "wide"});
      run.evaluate();
      const auto out = run.relation("out");
      EXPECT_TRUE(out.contains({-5, 4000000000U, 0.0F, "text"}));
      EXPECT_FALSE(out.contains({-5, 4000000000U, 0.0F, "a text that nobody has"}));
      EXPECT_FALSE(out.contains({-6, 4000000000U, 0.0F, "text"}));
      EXPECT_FALSE(out.contains({-5, 4000000000U, 1.5F, "text"}));
      if (word_size == 64) {
        EXPECT_TRUE(out.contains({std::int64_t{-5000000000}, ~std::uint64_t{0}, 0.1, "wide"}));
        EXPECT_FALSE(out.contains({std::int64_t{-7000000000}, ~std::uint64_t{0}, 0.1, "wide"}));
      }
      EXPECT_THROW((void)out.contains({-5, 1U, 0.0F}), gpulog::input_error);
      EXPECT_THROW((void)out.contains({-5, 1U, 0.0F, 1}), gpulog::input_error);
      EXPECT_THROW((void)out.contains({"text", 1U, 0.0F, "text"}), gpulog::input_error);
    }
  }
}

TEST_P(everywhere, pairs_of_an_equivalence_relation) {
  const auto source = program::from_text(
      ".decl same(x:number, y:number) eqrel\nsame(1,2). same(2,3). same(10,20).\n.decl none(x:number, y:number) eqrel\n"
      "none(x,y) :- same(x,y), x > 100.\n");
  for (const gpulog::run_options& chosen : options()) {
    engine run(source, chosen);
    run.evaluate();
    const auto same = run.relation("same");
    EXPECT_TRUE(same.contains({3, 1}));
    EXPECT_TRUE(same.contains({20, 20}));
    EXPECT_FALSE(same.contains({1, 10}));
    EXPECT_FALSE(same.contains({4, 4}));
    EXPECT_FALSE(run.relation("none").contains({1, 1}));
  }
}

TEST_P(everywhere, the_tuple_without_columns) {
  const auto source = program::from_text(".decl yes()\nyes().\n.decl no()\nno() :- yes(), 1 = 2.\n");
  for (const gpulog::run_options& chosen : options()) {
    engine run(source, chosen);
    run.evaluate();
    EXPECT_TRUE(run.relation("yes").contains({}));
    EXPECT_FALSE(run.relation("no").contains({}));
  }
}

}  // namespace
