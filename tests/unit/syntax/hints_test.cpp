#include <gtest/gtest.h>

#include "parsing.hpp"

namespace gpulog::syntax {
namespace {

std::string report_of(const std::string& text) { return parsed_text(text).report.to_string(); }

bool mentions(const std::string& report, const std::string& text) { return report.find(text) != std::string::npos; }

struct hinted {
  std::string text;
  std::string hint;
};

class hints : public testing::TestWithParam<hinted> {};

TEST_P(hints, stand_below_one_error) {
  const parsed_text parsed(".decl a(x:number)\n.decl b(x:number)\n" + GetParam().text + "\n");
  const std::string report = parsed.report.to_string();
  EXPECT_TRUE(mentions(report, GetParam().hint)) << report;
  EXPECT_EQ(parsed.report.error_count(), 1U) << report;
}

INSTANTIATE_TEST_SUITE_P(
    all, hints,
    testing::Values(hinted{"b(x) :- a(x), x == 1.", "Equality is written ="},
                    hinted{"b(x) :- a(x), x <> 1.", "Inequality is written !="},
                    hinted{"b(x) :- a(x), x =< 1.", "Less or equal is written <="},
                    hinted{"b(x) :- a(x), x => 1.", "Greater or equal is written >="},
                    hinted{"b(x ** 2) :- a(x).", "Powers are written ^"},
                    hinted{"b(x) :- a(x) && x > 1.", "Literals are joined with a comma"},
                    hinted{"b(x) :- a(x) and x > 1.", "Literals are joined with a comma"},
                    hinted{"b(x) :- a(x) || b(x).", "Alternatives are separated by a semicolon"},
                    hinted{"b(x) :- a(x) or b(x).", "Alternatives are separated by a semicolon"},
                    hinted{"b(x) :- a(x), not b(x).", "Negation is written !"},
                    hinted{"b(x) :- a(x), ~b(x).", "Negation is written !"},
                    hinted{"b(x) :- a(x), \\+ b(x).", "Negation is written !"},
                    hinted{"b(x) :- a(x), x \\= 1.", "Inequality is written !="},
                    hinted{"b(x) <- a(x).", "A rule is written head :- body."},
                    hinted{"b(x) := a(x).", "A rule is written head :- body."},
                    hinted{"b(x mod 2) :- a(x).", "The remainder is written %"},
                    hinted{"a('one').", "A symbol is written in double quotes"},
                    hinted{"a(1). % one", "A comment is written //"},
                    hinted{"a(\xE2\x80\x9Cone).", "A symbol is written in double quotes"},
                    hinted{"a(1);", "A clause ends with a dot"},
                    hinted{"b(concat(x, \"a\")) :- a(x).", "There is no functor concat, did you mean 'cat'?"},
                    hinted{"b((concat(x, \"a\"))) :- a(x).", "There is no functor concat, did you mean 'cat'?"},
                    hinted{"b(strln(x)) :- a(x).", "There is no functor strln, did you mean 'strlen'?"},
                    hinted{"b(wavelet(x)) :- a(x).", "called as @wavelet(...)"},
                    hinted{"b(x) :- x = avg y : a(y).", "There is no aggregate avg, did you mean 'mean'?"},
                    hinted{"b(x) :- x = cuont : a(_).", "There is no aggregate cuont, did you mean 'count'?"},
                    hinted{"b(x) :- a(x), .", "Nothing follows the comma"},
                    hinted{".decl c(x number)", "An attribute is written name:type"},
                    hinted{".decl c(number)", "An attribute is written name:type"},
                    hinted{"b(x) :- a(x.", "This ( is not closed in file test.dl at line"},
                    hinted{".decl c(x:number\na(1).", "This ( is not closed in file test.dl at line"},
                    hinted{"a([1, 2", "This [ is not closed in file test.dl at line"},
                    hinted{"b(n) :- n = count : { a(_)\n.output b", "This { is not closed in file test.dl at line"},
                    hinted{"# a comment\na(1).", "A comment is written //"},
                    hinted{".ouput a", "There is no directive .ouput, did you mean '.output'?"},
                    hinted{".declare c(x:number)", "There is no directive .declare, did you mean '.decl'?"},
                    hinted{".wavelet a", "There is no directive .wavelet\n"}));

TEST(hints, say_nothing_where_nothing_is_known) {
  EXPECT_EQ(report_of("a(1) :- ).\n"),
            "Error: syntax error, unexpected ) in file test.dl at line 1\na(1) :- ).\n--------^--\n"
            "1 errors generated, evaluation aborted\n");
}

TEST(hints, name_the_innermost_bracket_that_is_open) {
  const std::string report = report_of("b(x) :- a(y), (x = (y + 1.\n");
  EXPECT_TRUE(mentions(report,
                       "This ( is not closed in file test.dl at line 1\nb(x) :- a(y), (x = (y + 1.\n"
                       "-------------------^-------\n"))
      << report;
  EXPECT_FALSE(mentions(report_of("b(x)) :- a(x).\n"), "not closed"));
}

TEST(hints, do_not_take_other_names_for_functors) {
  for (const char* const text : {".type T = A {} | B {c {}\n", ".type T = A (x:number)\n", ".init x = c(d)\n"}) {
    EXPECT_FALSE(mentions(report_of(text), "functor")) << report_of(text);
  }
}

TEST(hints, name_utf_16) {
  const std::string report = report_of(std::string("\xFF\xFE.\0d\0e\0c\0l\0", 12));
  EXPECT_TRUE(mentions(report, "the program is text in UTF-16")) << report;
  EXPECT_TRUE(mentions(report, "1 errors generated")) << report;
}

TEST(missing_dot, is_shown_at_the_end_of_its_clause) {
  const std::string shown =
      "Error: syntax error, missing . at the end of the clause in file test.dl at line 2\na(1)\n----^\n"
      "The next one begins here in file test.dl at line 3\n";
  EXPECT_TRUE(mentions(report_of(".decl a(x:number)\na(1)\na(2).\n"), shown));
  EXPECT_TRUE(mentions(report_of(".decl a(x:number)\na(1)\n.output a\n"), shown));
  EXPECT_TRUE(mentions(report_of("a(x) :- b(x),\n  c(x)\nd(1).\n"), "at line 2\n  c(x)\n------^\n"));
  EXPECT_TRUE(mentions(report_of("a(x) :- b(x)"), "missing . at the end of the clause in file test.dl at line 1\n"));
  EXPECT_TRUE(mentions(report_of(".comp C { a(1) }\n"), "missing . at the end of the clause"));
}

TEST(missing_dot, hides_no_error_of_the_next_clause) {
  const parsed_text parsed("a(1)\nb(2)\nc(3).\nd(.\n");
  EXPECT_EQ(parsed.remarks(),
            "1:syntax error, missing . at the end of the clause\n2:syntax error, missing . at the end of the clause\n"
            "4:syntax error, unexpected .\n");
}

TEST(missing_dot, is_not_blamed_for_a_missing_comma) {
  EXPECT_EQ(parsed_text("a(x) :- b(x) c(x).\n").remarks(),
            "1:syntax error, unexpected identifier, expecting \",\" or ; or .\n");
  EXPECT_EQ(parsed_text("a(x) :- b(x)\n  c(x).\n").remarks(),
            "2:syntax error, unexpected identifier, expecting \",\" or ; or .\n");
}

}  // namespace
}  // namespace gpulog::syntax
