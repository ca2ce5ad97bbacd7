// Records and branches as values of the caller: inserted, looked for, erased and read.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "device_here.hpp"
#include "gpulog/engine.hpp"

namespace {

using gpulog::branch;
using gpulog::engine;
using gpulog::nil;
using gpulog::program;
using gpulog::record;
using gpulog::value;

constexpr const char* text = R"(
.type Town <: symbol
.type List = [head:number, tail:List]
.type All = [n:number, u:unsigned, f:float, s:Town, l:List, t:Tree]
.type Tree = Leaf {} | Node {left:Tree, right:Tree} | Value {x:All}
.type Color = Red {} | Green {}
.type Shade = Color
.type Box = [l:List]
.decl given(t:Tree, l:List, c:Shade)
.decl out(t:Tree, l:List, c:Shade)
out(t, l, c) :- given(t, l, c).
.decl node(left:Tree)
node(x) :- given($Node(x, _), _, _).
.decl box(b:Box)
box([l]) :- given(_, l, _).
)";

std::vector<std::vector<value>> typed_rows() {
  const value list = record{{1, record{{-2, nil}}}};
  const value all = record{{-5, 7U, 0.5F, "a \"quoted\", text]", list, branch("Leaf")}};
  return {{branch("Leaf"), nil, branch("Red")},
          {branch("Node", {branch("Leaf"), branch("Value", {all})}), list, branch("Green")},
          {branch("Value", {nil}), record{{3, nil}}, branch("Red")}};
}

std::vector<gpulog::run_options> configurations() {
  std::vector<gpulog::run_options> result(2);
  result[1].storage = gpulog::storage_kind::hisa;
  if (gpulog::has_device()) {
    gpulog::run_options& device = result.emplace_back();
    device.backend = gpulog::backend_kind::gpu;
  }
  return result;
}

/// Of a program with words of 64 bits, numbers are that wide.
value widened(const value& given) {
  const auto widened_all = [](const std::vector<value>& fields) {
    std::vector<value> result;
    for (const value& one : fields) result.push_back(widened(one));
    return result;
  };
  if (const auto* one = std::get_if<std::int32_t>(&given)) return std::int64_t{*one};
  if (const auto* one = std::get_if<std::uint32_t>(&given)) return std::uint64_t{*one};
  if (const auto* one = std::get_if<float>(&given)) return double{*one};
  if (const auto* one = std::get_if<record>(&given)) return record{widened_all(one->fields)};
  if (const auto* one = std::get_if<branch>(&given)) return branch(one->name(), widened_all(one->fields()));
  return given;
}

TEST(typed_values, come_out_as_they_went_in) {
  for (const unsigned word_size : {32U, 64U}) {
    gpulog::compile_options compiling;
    compiling.word_size = word_size;
    const auto source = program::from_text(text, compiling);
    ASSERT_TRUE(source.ok()) << source.report();
    for (const gpulog::run_options& options : configurations()) {
      engine run(source, options);
      for (const auto& row : typed_rows()) run.relation("given").insert(row);
      run.evaluate();
      auto out = run.relation("out");
      ASSERT_EQ(out.size(), 3U);
      std::size_t found = 0;
      for (const gpulog::tuple tuple : out) {
        std::vector<value> read;
        for (std::size_t c = 0; c < tuple.size(); ++c) read.push_back(tuple.value(c));
        EXPECT_TRUE(out.contains(read));
        for (std::vector<value> row : typed_rows()) {
          EXPECT_TRUE(out.contains(row));
          if (word_size == 64) {
            for (value& one : row) one = widened(one);
          }
          found += row == read ? 1 : 0;
        }
      }
      EXPECT_EQ(found, 3U);
      EXPECT_TRUE(run.relation("node").contains({branch("Leaf")}));
      EXPECT_TRUE(run.relation("box").contains({record{{record{{3, nil}}}}}));
      EXPECT_FALSE(run.relation("box").contains({record{{record{{4, nil}}}}}));
      EXPECT_FALSE(run.relation("box").contains({nil}));
    }
  }
}

TEST(typed_values, are_erased) {
  engine run(program::from_text(text));
  for (const auto& row : typed_rows()) run.relation("given").insert(row);
  run.evaluate();
  run.relation("given").erase(typed_rows()[1]);
  run.relation("given").erase({branch("Leaf"), nil, branch("Green")});
  run.evaluate();
  EXPECT_EQ(run.relation("out").size(), 2U);
  EXPECT_TRUE(run.relation("node").empty());
  EXPECT_FALSE(run.relation("out").contains(typed_rows()[1]));
}

TEST(typed_values, go_in_as_columns) {
  engine run(program::from_text(text));
  auto given = run.relation("given");
  std::vector<value> trees;
  std::vector<value> lists;
  std::vector<value> colors;
  for (const std::vector<value>& row : typed_rows()) {
    trees.push_back(row[0]);
    lists.push_back(row[1]);
    colors.push_back(row[2]);
  }
  given.insert_columns({trees, lists, colors});
  const std::vector<branch> leaves(2, branch("Leaf"));
  const std::vector<record> records = {record{{7, nil}}, record{{8, record{{9, nil}}}}};
  const std::vector<std::string> texts = {"$Green", "$Red"};
  given.insert_columns({leaves, records, texts});
  EXPECT_EQ(given.size(), typed_rows().size() + 2);
  for (const std::vector<value>& row : typed_rows()) EXPECT_TRUE(given.contains(row));
  EXPECT_TRUE(given.contains({branch("Leaf"), record{{8, record{{9, nil}}}}, branch("Red")}));

  const std::vector<value> wrong = {branch("Leaf"), branch("Lea")};
  EXPECT_THROW(
      {
        try {
          given.insert_columns({wrong, records, texts});
        } catch (const gpulog::input_error& fault) {
          EXPECT_STREQ(fault.what(),
                       "row 1: attribute t of relation given is of type Tree: Tree has no branch Lea, did you mean "
                       "'Leaf'?");
          throw;
        }
      },
      gpulog::input_error);
  EXPECT_THROW(given.insert_columns({records, records, texts}), gpulog::input_error);
  EXPECT_THROW(given.insert_columns({leaves, leaves, texts}), gpulog::input_error);
  EXPECT_EQ(given.size(), typed_rows().size() + 2);
}

TEST(typed_values, may_be_texts) {
  engine run(program::from_text(text));
  run.relation("given").insert({"$Node($Leaf, $Value(nil))", "[1, [2, nil]]", "$Red"});
  run.evaluate();
  EXPECT_TRUE(run.relation("out").contains(
      {branch("Node", {branch("Leaf"), branch("Value", {nil})}), record{{1, record{{2, nil}}}}, branch("Red")}));
  EXPECT_TRUE(run.relation("out").contains({"$Node($Leaf, $Value(nil))", "[1, [2, nil]]", "$Red"}));
}

TEST(typed_values, misfits_are_explained) {
  engine run(program::from_text(text));
  auto given = run.relation("given");
  const auto message = [&](const std::vector<value>& row) -> std::string {
    try {
      (void)given.contains(row);
    } catch (const gpulog::input_error& looked_for) {
      EXPECT_THROW(given.erase(row), gpulog::input_error);
      try {
        given.insert(row);
      } catch (const gpulog::input_error& inserted) {
        EXPECT_STREQ(inserted.what(), looked_for.what());
        return inserted.what();
      }
    }
    return "";
  };
  const value leaf = branch("Leaf");
  const value red = branch("Red");
  const std::string tree = "attribute t of relation given is of type Tree";
  const std::string list = "attribute l of relation given is of type List";
  EXPECT_EQ(message({1, nil, red}), tree);
  EXPECT_EQ(message({nil, nil, red}), tree);
  EXPECT_EQ(message({leaf, leaf, red}), list);
  EXPECT_EQ(message({leaf, record{{1}}, red}), list + ": List has 2 fields, but 1 were given");
  EXPECT_EQ(message({leaf, record{{"a", nil}}, red}), list + ": field head of List is of type number");
  EXPECT_EQ(message({leaf, record{{1, record{{1, 2}}}}, red}), list + ": field tail of List is of type List");
  EXPECT_EQ(message({leaf, "[1]", red}), list + ": List has no text [1]");
  EXPECT_EQ(message({branch("Nod", {leaf, leaf}), nil, red}), tree + ": Tree has no branch Nod, did you mean 'Node'?");
  EXPECT_EQ(message({branch("Node"), nil, red}), tree + ": branch Node has 2 fields, but 0 were given");
  EXPECT_EQ(message({branch("Node", {leaf, 1}), nil, red}), tree + ": field right of branch Node is of type Tree");
  EXPECT_EQ(message({leaf, nil, branch("Red", {1})}),
            "attribute c of relation given is of type Color: branch Red has 0 fields, but 1 were given");
  EXPECT_EQ(given.size(), 0U);
}

/// A list of so many numbers.
value list_of(std::size_t length) {
  value list = nil;
  for (std::size_t i = 0; i < length; ++i) {
    record longer;
    longer.fields.emplace_back(1);
    longer.fields.push_back(std::move(list));
    list = std::move(longer);
  }
  return list;
}

TEST(typed_values, are_not_nested_without_end) {
  engine run(program::from_text(R"(
.type List = [head:number, tail:List]
.decl a(l:List)
.decl b(n:number, l:List)
b(1, l) :- a(l).
b(n + 1, [1, l]) :- b(n, l), n < 2.
)"));
  run.relation("a").insert({list_of(gpulog::deepest_value)});
  EXPECT_THROW(run.relation("a").insert({list_of(gpulog::deepest_value + 1)}), gpulog::input_error);
  run.evaluate();
  EXPECT_EQ(run.relation("b").size(), 2U);
  for (const gpulog::tuple row : run.relation("b")) {
    if (row.number(0) == 1) {
      EXPECT_TRUE(row.value(1) == list_of(gpulog::deepest_value));
    } else {
      EXPECT_THROW((void)row.value(1), gpulog::input_error);
      EXPECT_GT(row.text(1).size(), gpulog::deepest_value);
    }
  }
}

TEST(typed_values, what_records_share_has_an_end) {
  engine run(
      program::from_text(".type Tree = Leaf {} | Node {left:Tree, right:Tree}\n.decl t(n:number, t:Tree)\n"
                         "t(0, $Leaf).\nt(n + 1, $Node(t, t)) :- t(n, t), n < 40.\n"));
  run.evaluate();
  for (const gpulog::tuple row : run.relation("t")) {
    if (row.number(0) == 40) EXPECT_THROW((void)row.value(1), gpulog::input_error);
    if (row.number(0) == 1) EXPECT_EQ(row.value(1), value(branch("Node", {branch("Leaf"), branch("Leaf")})));
  }
}

TEST(typed_values, types_are_described) {
  const auto source = program::from_text(text);
  std::string described;
  for (const gpulog::structured_type& type : source.types()) {
    described += type.name + ":" + type.type;
    for (const gpulog::field& field : type.fields) described += " " + field.name + ":" + field.type + field.structure;
    for (const auto& branch : type.branches) {
      described += " $" + branch.name;
      for (const gpulog::field& field : branch.fields)
        described += " " + field.name + ":" + field.type + field.structure;
    }
    described += "\n";
  }
  EXPECT_EQ(described,
            "List:record head:number tail:recordList\n"
            "All:record n:number u:unsigned f:float s:symbol l:recordList t:adtTree\n"
            "Tree:adt $Leaf $Node left:adtTree right:adtTree $Value x:recordAll\n"
            "Color:adt $Green $Red\n"
            "Box:record l:recordList\n");
  EXPECT_EQ(source.relations()[0].attributes[2].declared_type, "Shade");
  EXPECT_EQ(source.relations()[0].attributes[2].structure, "Color");
  EXPECT_TRUE(program::from_text(".type A = [x:B]\n").types().empty());
}

TEST(typed_values, have_an_order) {
  const std::vector<value> sorted = {1, nil, record{{1, "a"}}, record{{1, "b"}}, branch("A", {2}), branch("B", {1})};
  for (std::size_t one = 0; one < sorted.size(); ++one)
    for (std::size_t other = 0; other < sorted.size(); ++other) EXPECT_EQ(sorted[one] < sorted[other], one < other);
}

}  // namespace
