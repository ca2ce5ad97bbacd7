#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "gpulog/engine.hpp"

namespace {

using gpulog::compile_options;
using gpulog::engine;
using gpulog::program;

const char* const roads =
    ".decl road(x:symbol, y:symbol)\n"
    "road(\"a\",\"b\"). road(\"b\",\"c\"). road(\"c\",\"b\").\n"
    ".decl reach(x:symbol, y:symbol)\n"
    "reach(x,y) :- road(x,y).\nreach(x,z) :- reach(x,y), road(y,z).\n"
    ".decl far(x:symbol, n:number)\nfar(x,n) :- road(x,_), n = count : { reach(x,_) }.\n"
    ".output far\n";

program asked(const std::string& text, const std::vector<std::string>& queries, bool only = true, unsigned words = 32) {
  compile_options options;
  for (const std::string& one : queries) options.queries.push_back({one});
  options.only_queries = only;
  options.word_size = words;
  options.warnings = false;
  return program::from_text(text, options);
}

/// "x:symbol y:number" of a query's columns.
std::string columns_of(const program& source, std::size_t number = 0) {
  EXPECT_TRUE(source.ok()) << source.report();
  std::string text;
  const gpulog::relation_declaration query = source.queries().at(number);
  for (const gpulog::attribute& column : query.attributes) {
    text += (text.empty() ? "" : " ") + column.name + ":" + column.type;
  }
  return text;
}

using rows = std::set<std::string>;

rows rows_of(engine& run, const std::string& name) {
  rows result;
  for (const gpulog::tuple& row : run.relation(name)) {
    std::string text;
    for (std::size_t column = 0; column < row.size(); ++column) text += (column > 0 ? " " : "") + row.text(column);
    result.insert(text);
  }
  return result;
}

rows answer(const program& source, std::size_t number = 0) {
  EXPECT_TRUE(source.ok()) << source.report();
  if (!source.ok()) return {"rejected"};
  engine run(source, {.tuning = {{"unneeded-relations", "on"}}});
  run.evaluate();
  return rows_of(run, source.queries().at(number).name);
}

rows answer(const std::string& text, const std::string& query) { return answer(asked(text, {query})); }

std::string first_message(const program& source) {
  return source.diagnostics().empty() ? "" : source.diagnostics().front().text;
}

TEST(queries, hold_for_the_values_of_their_variables) {
  EXPECT_EQ(answer(roads, "reach(\"a\",x)"), (rows{"b", "c"}));
  EXPECT_EQ(answer(roads, "reach(x,y), road(y,x)."), (rows{"b c", "c b"}));
  EXPECT_EQ(answer(roads, "reach(x,x), x != \"b\""), (rows{"c"}));
  EXPECT_EQ(answer(roads, "!reach(\"b\",x), road(x,_)"), (rows{"a"}));
  EXPECT_EQ(answer(roads, "road(\"a\",x) ; road(x,\"b\")"), (rows{"a", "b", "c"}));
  EXPECT_EQ(answer(roads, "far(x,n), n >= 2"), (rows{"a 2", "b 2", "c 2"}));
  EXPECT_EQ(answer(roads, "n = count : { reach(x,_) }"), (rows{"6"}));
  EXPECT_EQ(answer(roads, "x = 3 + 4"), (rows{"7"}));
}

TEST(queries, without_variables_have_a_row_where_they_hold) {
  EXPECT_EQ(columns_of(asked(roads, {"reach(\"a\",_x)"})), "");
  EXPECT_EQ(answer(roads, "reach(\"a\",_x)").size(), 1U);
  EXPECT_EQ(answer(roads, "reach(\"a\",\"c\")").size(), 1U);
  EXPECT_EQ(answer(roads, "reach(\"c\",\"a\")").size(), 0U);
  EXPECT_EQ(answer(roads, "true").size(), 1U);
  EXPECT_EQ(answer(roads, "false").size(), 0U);
}

TEST(queries, have_columns_of_the_types_of_their_variables) {
  const std::string text =
      ".type town <: symbol\n.type pair = [x:number, y:town]\n.type shape = Circle{r:float} | Point{}\n"
      ".decl all(a:town, b:unsigned, c:float, d:pair, e:shape)\nall(\"a\", 1, 2.5, [3,\"b\"], $Circle(4.5)).\n";
  EXPECT_EQ(columns_of(asked(text, {"all(a,b,c,d,e)"})), "a:symbol b:unsigned c:float d:record e:adt");
  EXPECT_EQ(answer(text, "all(a,b,c,d,e)"), (rows{"a 1 2.5 [3, b] $Circle(4.5)"}));
  EXPECT_EQ(answer(text, "all(_,_,_,[x,y],$Circle(r))"), (rows{"3 b 4.5"}));
  EXPECT_EQ(answer(asked(text, {"all(a,b,c,d,e), n = 5000000000"}, true, 64)),
            (rows{"a 1 2.5 [3, b] $Circle(4.5) 5000000000"}));
}

TEST(queries, read_inline_relations_and_those_of_components) {
  const std::string text =
      ".decl twice(x:number, y:number) inline\ntwice(x,y) :- n(x), y = 2 * x.\n.decl n(x:number)\nn(3). n(4).\n"
      ".comp C { .decl r(x:number) r(9). }\n.init c = C\n";
  EXPECT_EQ(answer(text, "twice(x,y)"), (rows{"3 6", "4 8"}));
  EXPECT_EQ(answer(text, "twice(3,y), c.r(x)"), (rows{"6 9"}));
}

TEST(queries, several_stand_beside_each_other) {
  const program source = asked(roads, {"road(x,y)", "reach(\"a\",x)", "road(\"a\",\"z\")"}, false);
  ASSERT_TRUE(source.ok()) << source.report();
  ASSERT_EQ(source.queries().size(), 3U);
  EXPECT_EQ(source.relations().size(), 3U);
  EXPECT_EQ(source.outputs().size(), 1U);
  engine run(source);
  EXPECT_EQ(run.relations().size(), 3U);
  run.evaluate();
  EXPECT_EQ(rows_of(run, source.queries()[0].name), (rows{"a b", "b c", "c b"}));
  EXPECT_EQ(rows_of(run, source.queries()[1].name), (rows{"b", "c"}));
  EXPECT_EQ(run.relation(source.queries()[2].name).size(), 0U);
  EXPECT_EQ(rows_of(run, "far"), (rows{"a 2", "b 2", "c 2"}));
}

TEST(queries, only_what_they_need_is_evaluated) {
  engine run(asked(roads, {"road(\"a\",x)"}), {.tuning = {{"unneeded-relations", "on"}}});
  run.evaluate();
  EXPECT_EQ(rows_of(run, "reach"), rows{});
  EXPECT_EQ(rows_of(run, "far"), rows{});
  EXPECT_TRUE(asked(roads, {"road(\"a\",x)"}).outputs().empty());
}

TEST(queries, follow_facts_that_change) {
  const program source = asked(roads, {"reach(\"a\",x)"});
  engine run(source);
  run.evaluate();
  run.relation("road").insert({"c", "d"});
  run.evaluate();
  EXPECT_EQ(rows_of(run, source.queries().front().name), (rows{"b", "c", "d"}));
}

TEST(queries, errors_point_into_their_text) {
  EXPECT_EQ(first_message(asked(roads, {"reach(\"a\",x), raech(x,y)"})),
            "Error: Undefined relation raech, did you mean 'reach'? in file query at line 1\n"
            "reach(\"a\",x), raech(x,y)\n--------------^----------\n");
  EXPECT_EQ(first_message(asked(roads, {"reach(x)"})),
            "Error: Mismatching arity of relation reach (expected 2, got 1) in file query at line "
            "1\nreach(x)\n^--------\nDeclared here in file program.dl at line 3\n.decl reach(x:symbol, "
            "y:symbol)\n------^-------------------------\n");
  EXPECT_EQ(first_message(asked(roads, {"!reach(x,x)"})),
            "Error: Ungrounded variable x in file query at line 1\n!reach(x,x)\n-------^----\nA negated atom does not "
            "bind x; an atom without ! does\n");
  EXPECT_EQ(first_message(asked(roads, {"road(x,_) ; road(_,y)"})),
            "Error: Ungrounded variable x in file query at line 1\nroad(x,_) ; road(_,y)\n-----^----------------\nNo "
            "atom binds x; add an atom with the argument x\n");
  EXPECT_EQ(first_message(asked(roads, {"road(x,_) ; far(_,x)"})),
            "Error: Unable to deduce type for variable x in file query at line 1\nroad(x,_) ; "
            "far(_,x)\n-----^---------------\n");
  EXPECT_EQ(first_message(asked(roads, {"reach(x,3)"})),
            "Error: Number constant (type mismatch) in file query at line 1\nreach(x,3)\n--------^--\nFound number "
            "where symbol is expected\nAttribute y of relation reach is declared as symbol in file program.dl at line "
            "3\n.decl reach(x:symbol, y:symbol)\n----------------------^---------\n");
  EXPECT_EQ(first_message(asked(roads, {"x = nil"})),
            "Error: Unable to deduce type for variable x in file query at line 1\nx = nil\n^-------\n");
  EXPECT_EQ(first_message(asked(roads, {"reach(x,y). road(x,y)"})),
            "Error: syntax error, unexpected identifier, expecting end of file in file query at line 1\nreach(x,y). "
            "road(x,y)\n------------^---------\n");
  EXPECT_EQ(first_message(asked(roads, {""})),
            "Error: syntax error, unexpected end of file in file query at line 1\n\n^\n");
  EXPECT_EQ(first_message(asked(roads, {"reach(x,y) :- road(x,y)"})),
            "Error: syntax error, unexpected :-, expecting end of file or \",\" or ; or . in file query at line "
            "1\nreach(x,y) :- road(x,y)\n-----------^------------\nA rule has one :-; the previous clause may lack its "
            "dot\n");
}

TEST(queries, engines_answer_them) {
  engine run(program::from_text(roads));
  const gpulog::answer first = run.query("reach(\"a\",x), x != \"b\"");
  ASSERT_EQ(first.attributes().size(), 1U);
  EXPECT_EQ(first.attributes()[0].name + first.attributes()[0].type, "xsymbol");
  run.relation("road").insert({"c", "d"});
  const gpulog::answer second = run.query("n = count : { road(_,_) }, m = n + 1");
  EXPECT_EQ(rows_of(run, "reach").size(), 9U);  // the inserted fact is evaluated, too
  EXPECT_EQ(std::get<std::span<const std::int32_t>>(second.column(1).values)[0], 5);
  EXPECT_EQ(run.query("road(\"c\",\"d\")").size(), 1U);
  EXPECT_EQ(run.query("road(\"d\",\"c\")").size(), 0U);
  run.reset();
  EXPECT_EQ(std::get<std::span<const std::string_view>>(first.column(0).values)[0], "c");
  EXPECT_EQ(second.attributes().size(), 2U);
}

TEST(queries, wrong_ones_have_no_effect) {
  engine run(program::from_text(roads));
  try {
    (void)run.query("raech(x,y)");
    FAIL();
  } catch (const gpulog::query_error& error) {
    ASSERT_EQ(error.diagnostics().size(), 1U);
    EXPECT_EQ(error.diagnostics()[0].message, "Undefined relation raech, did you mean 'reach'?");
    EXPECT_EQ(std::string(error.what()),
              "Error: Undefined relation raech, did you mean 'reach'? in file query at line 1\nraech(x,y)\n"
              "^----------\n1 errors generated, evaluation aborted\n");
  }
  EXPECT_THROW((void)run.query("x = 1 / (n - 3), n = count : { road(_,_) }"), gpulog::evaluation_error);
  run.reset();
  run.evaluate();
  EXPECT_EQ(run.query("reach(x,y)").size(), 6U);
}

TEST(queries, texts_that_end_too_early_are_told_apart) {
  for (const char* const cut : {"a(1)", "a(1", ".decl b(x:", ".comp C {", "a(x) :- a(x),", "/* a", ".type T = A |"}) {
    const program source = program::from_text(".decl a(x:number)\n" + std::string(cut) + "\n");
    EXPECT_FALSE(source.ok()) << cut;
    EXPECT_TRUE(source.is_cut_off()) << cut;
  }
  for (const char* const other : {"a(1)).", "b(1).", "a(1) a(2", "a(\"x", "a(1).", ""}) {
    EXPECT_FALSE(program::from_text(".decl a(x:number)\n" + std::string(other) + "\n").is_cut_off()) << other;
  }
  EXPECT_TRUE(asked(roads, {"reach(x,"}).is_cut_off());
  EXPECT_TRUE(asked(roads, {"reach(x,y),"}).is_cut_off());
  EXPECT_TRUE(asked(roads, {""}).is_cut_off());
  EXPECT_FALSE(asked(roads, {"reach(x,y)"}).is_cut_off());
  EXPECT_FALSE(asked(roads, {"reach(x))"}).is_cut_off());
}

}  // namespace
