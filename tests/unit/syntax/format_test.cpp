#include "syntax/format/format.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "formatting.hpp"
#include "parsing.hpp"

namespace gpulog::syntax {
namespace {

TEST(format, blanks_between_tokens) {
  EXPECT_EQ(formatted(".decl edge( x : number,y:symbol )brie choice-domain x,( x,y )\n"),
            ".decl edge(x:number, y:symbol) brie choice-domain x, (x, y)\n");
  EXPECT_EQ(formatted(".type T=A{}|B{x:number}\n.type R=[ a:T,b:R ]\n.type U  <:  number\n"),
            ".type T = A {} | B {x:number}\n.type R = [a:T, b:R]\n.type U <: number\n");
  EXPECT_EQ(formatted(".input a , b ( IO = file , delimiter=\",\" )\n.pragma \"a\"   \"b\"\n"),
            ".input a, b(IO=file, delimiter=\",\")\n.pragma \"a\" \"b\"\n");
  EXPECT_EQ(formatted(".functor f ( number,x : symbol ) : number stateful\n"),
            ".functor f(number, x:symbol):number stateful\n");
  EXPECT_EQ(formatted("r(x,y):-e(x,z),!f(z),x=-y+2*z,z<5;(g(x),x!=y).\n"),
            "r(x, y) :- e(x, z), !f(z), x = -y + 2 * z, z < 5; (g(x), x != y).\n");
  EXPECT_EQ(formatted("s(x):-x=sum y:{e(x,y)},n=count:c.e(_,_),z=(1-2)band-3.\n"),
            "s(x) :- x = sum y : { e(x, y) }, n = count : c.e(_, _), z = (1 - 2) band -3.\n");
  EXPECT_EQ(formatted("t($A.B(1),[1,2],@f(3),as(4,number),$C,nil).\n"),
            "t($A.B(1), [1, 2], @f(3), as(4, number), $C, nil).\n");
  EXPECT_EQ(formatted("a(x)<=a(y):-x<=y.\nr(x):-a(x),b(x). .plan 0:(2,1),1:(1,2)\n"),
            "a(x) <= a(y) :- x <= y.\nr(x) :- a(x), b(x).\n  .plan 0:(2, 1), 1:(1, 2)\n");
}

TEST(format, long_rules_have_a_line_per_literal) {
  EXPECT_EQ(formatted("path(x, y, z) :- first_relation(x, \"aaaaaaaaaaaaaaaaaaaa\"), "
                      "second_relation(y, \"bbbbbbbbbbbbbbbbbbbb\"), third_relation(z).\n"),
            "path(x, y, z) :-\n"
            "  first_relation(x, \"aaaaaaaaaaaaaaaaaaaa\"),\n"
            "  second_relation(y, \"bbbbbbbbbbbbbbbbbbbb\"),\n"
            "  third_relation(z).\n");
  EXPECT_EQ(formatted("path(x) :- // start\n  a(x); b(x), /* inner */ c(x).\n"),
            "path(x) :-  // start\n"
            "  a(x);\n"
            "  b(x), /* inner */ c(x).\n");
  EXPECT_EQ(formatted("path(x) :- (a(x) // one\n ; b(x)), c(x).\n"),
            "path(x) :-\n"
            "  (\n"
            "    a(x)  // one\n"
            "  ;\n"
            "    b(x)\n"
            "  ),\n"
            "  c(x).\n");
}

TEST(format, line_ends_between_literals_stay) {
  EXPECT_EQ(formatted("path(x):-\n a(x).\npath(x) :- a(x),\n    b(x), c(x).\n"),
            "path(x) :-\n  a(x).\npath(x) :-\n  a(x),\n  b(x),\n  c(x).\n");
  EXPECT_EQ(formatted("path(x)\n  :- a(x)\n  , b(x).\n"), "path(x) :-\n  a(x),\n  b(x).\n");
  EXPECT_EQ(formatted("a(x),\nb(x)\n:- c(x).\n"), "a(x),\nb(x) :-\n  c(x).\n");
  EXPECT_EQ(formatted("n(x) :- x = sum y : { a(y),\n b(y) }, c(\nx, 1).\n"),
            "n(x) :-\n"
            "  x = sum y : {\n"
            "    a(y),\n"
            "    b(y)\n"
            "  },\n"
            "  c(\n"
            "    x,\n"
            "    1\n"
            "  ).\n");
  // Other line ends do not.
  EXPECT_EQ(formatted("path(x,\n  y) :- a(x\n), x =\n y.\n"), "path(x, y) :- a(x), x = y.\n");
}

TEST(format, blank_lines_between_literals_stay) {
  EXPECT_EQ(formatted("path(x) :-\n\n  a(x), // one\n\n\n  b(x),\n\n  // two\n  c(x)\n\n.\n"),
            "path(x) :-\n"
            "  a(x),  // one\n"
            "\n"
            "  b(x),\n"
            "\n"
            "  // two\n"
            "  c(x).\n");
}

TEST(format, alternatives_have_a_line_each) {
  EXPECT_EQ(formatted("path(x) :- (a(x)\n;b(x), !c(x)), d(x).\n"),
            "path(x) :-\n"
            "  (\n"
            "    a(x);\n"
            "    b(x), !c(x)\n"
            "  ),\n"
            "  d(x).\n");
  EXPECT_EQ(formatted("path(x) :- a(x); // one\n  b(x),\n c(x).\n"),
            "path(x) :-\n"
            "  a(x)\n"
            ";\n"
            "  // one\n"
            "  b(x),\n"
            "  c(x).\n");
}

TEST(format, declarations_on_several_lines_stay) {
  EXPECT_EQ(formatted(".decl a(\n  x:number )\n.decl b(x:number,\n  y:number)\n"),
            ".decl a(\n  x:number\n)\n.decl b(x:number, y:number)\n");
  EXPECT_EQ(formatted(".type T = A { }\n | B{x:number}\n.type U = number | V\n"),
            ".type T =\n    A {}\n  | B {x:number}\n.type U = number | V\n");
}

TEST(format, long_types_have_a_line_per_branch) {
  const std::string fields = "{first_field:number, second_field:number, third_field:symbol}";
  EXPECT_EQ(formatted(".type T = First " + fields + " | Second " + fields + "\n"),
            ".type T =\n    First " + fields + "\n  | Second " + fields + "\n");
}

TEST(format, comments_stay) {
  EXPECT_EQ(formatted("a(1) // one\n, a(2) // two\n:- b(3) // three\n. // four\n"),
            "a(1),  // one\n"
            "a(2)  // two\n"
            ":-\n"
            "  b(3).  // three\n"
            "// four\n");
  EXPECT_EQ(formatted("/* first */ a(1). /* second */ b(2). // third   \n/// fourth\n/* a\n   b */\nc(3)."),
            "/* first */ a(1).  /* second */\nb(2).  // third\n/// fourth\n/* a\n   b */\nc(3).\n");
  EXPECT_EQ(
      formatted(".decl a(x:number) // one\n.decl bb(x:number)         // two\n.decl c(x:number)          // three\n"),
      ".decl a(x:number)  // one\n.decl bb(x:number)  // two\n.decl c(x:number)   // three\n");
}

TEST(format, blank_lines_between_groups_stay) {
  EXPECT_EQ(formatted("\n\n.decl a(x:number)\n\n\n\na(1).\n// text\n\nb(1).\n\n\n"),
            ".decl a(x:number)\n\na(1).\n// text\n\nb(1).\n");
  EXPECT_EQ(formatted(".comp A {\n\n.decl a(x:number) a(1).\n\n.comp B { }\n\n}\n.init a = A\n"),
            ".comp A {\n  .decl a(x:number)\n  a(1).\n\n  .comp B {}\n}\n.init a = A\n");
}

TEST(format, facts_stay_in_columns) {
  EXPECT_EQ(formatted("e(1,2). e(2,3).\ne(30,4). f(1).\n"), "e(1, 2). e(2, 3).\ne(30, 4). f(1).\n");
  EXPECT_EQ(formatted("e(1,  \"a\").\ne(30, \"b\").\ne(4,5).\n"), "e(1,  \"a\").\ne(30, \"b\").\ne(4,  5).\n");
  EXPECT_EQ(formatted("e(1,  2).  e(3, 4).\ne(30, 4). e(5,6).\n\ne(7,8).\n"),
            "e(1,  2). e(3, 4).\ne(30, 4). e(5, 6).\n\ne(7, 8).\n");
  const std::string long_fact = "e(\"" + std::string(120, 'a') + "\", 2).\n";
  EXPECT_EQ(formatted(long_fact), long_fact);
}

TEST(format, lines_of_the_preprocessor_stay) {
  EXPECT_EQ(formatted("#define RULE(R, E) \\\n   R(x,y):-E(x,y). \\\n   R(x,z):-R(x,y),E(y,z).\n"
                      "  #define N   5 // five\n\nRULE(r,e)\nRULE( s ,e)\na( N ).\n"),
            "#define RULE(R, E) \\\n   R(x,y):-E(x,y). \\\n   R(x,z):-R(x,y),E(y,z).\n"
            "#define N   5 // five\n\nRULE(r, e)\nRULE(s, e)\na(N).\n");
  const std::string conditional = "r(x) :- a(x)\n#ifdef FAST\n  ,b(x)\n#endif\n  ,c(x).\n";
  EXPECT_EQ(formatted(conditional), conditional);
}

TEST(format, line_ends_and_bytes_stay) {
  EXPECT_EQ(formatted("a(1).\t \r\n// text \r\n\r\n/* a\r\n b */\r\nb(\t2)."),
            "a(1).\r\n// text\r\n\r\n/* a\r\n b */\r\nb(2).\r\n");
  EXPECT_EQ(formatted("\xEF\xBB\xBF"
                      "a( \"\xE9\xFF\" ).\n"),
            "\xEF\xBB\xBF"
            "a(\"\xE9\xFF\").\n");
  EXPECT_EQ(formatted("a(  \"two\nlines\"  ).\n"), "a(  \"two\nlines\"  ).\n");
  EXPECT_EQ(formatted(""), "");
  EXPECT_EQ(formatted("\n \n"), "");
}

TEST(format, edits_are_lines_in_the_range) {
  source_manager sources;
  const source_file& file = sources.add("test.dl", "a( 1 ).\nb( 2 ).\nr(x):-\n  a(x).\nc( 3 ).\n");
  EXPECT_EQ(format_edits(file, {2, 3}), (std::vector<text_edit>{{8, 16, "b(2).\n"}, {16, 23, "r(x) :-\n"}}));
  EXPECT_EQ(format_edits(file, {4, 4}), (std::vector<text_edit>{{16, 23, "r(x) :-\n"}}));
  EXPECT_EQ(format_edits(file, {6, 9}), (std::vector<text_edit>{}));
}

TEST(format, programs_with_errors_have_no_edits) {
  source_manager sources;
  diagnostics report;
  const parse_options options;
  EXPECT_EQ(format_program(sources.add("test.dl", "a( 1 ) :-\n"), sources, report, options), std::vector<text_edit>{});
  EXPECT_TRUE(report.has_errors());

  diagnostics of_lines;
  EXPECT_EQ(format_program(sources.add("lines.dl", "\n#if __LINE__ > 1\na(1).\n#endif\n"), sources, of_lines, options),
            std::vector<text_edit>{});
  ASSERT_EQ(of_lines.to_public().size(), 1U);
  EXPECT_EQ(of_lines.to_public().front().message,
            "the formatted text of lines.dl would have another syntax tree, as with #if __LINE__ > 9; the file stays "
            "unchanged");
}

TEST(format, lines_and_included_files_may_change) {
  source_manager sources;
  diagnostics report;
  const std::string text = "\n.include \"missing.dl\"\na( __LINE__, __INCL__ ).\n";
  const std::vector<text_edit> edits = format_program(sources.add("test.dl", text), sources, report, {});
  EXPECT_FALSE(report.has_errors()) << report.to_string();
  EXPECT_EQ(apply_edits(text, edits), ".include \"missing.dl\"\na(__LINE__, __INCL__).\n");
}

}  // namespace
}  // namespace gpulog::syntax
