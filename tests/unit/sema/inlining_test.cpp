#include "sema/components/inlining.hpp"

#include <gtest/gtest.h>

#include "analysed_text.hpp"
#include "sema/print.hpp"

namespace gpulog {
namespace {

std::vector<std::string> rules_of(const std::string& program) {
  const analysed_text text(
      ".decl e(x:number, y:number)\n.input e\n.decl out(x:number)\n.decl out2(x:number, y:number)\n" + program);
  if (!text.accepted()) return {text.report.to_string()};
  std::vector<std::string> result;
  for (const sema::rule& rule : text.program->rules) result.push_back(sema::to_text(*text.program, rule));
  return result;
}

using rules = std::vector<std::string>;

TEST(inlining, positive_atoms_become_the_bodies) {
  EXPECT_EQ(rules_of(".decl both(x:number, y:number) inline\nboth(x,y) :- e(x,y).\nboth(x,y) :- e(y,x).\n"
                     "out2(a,b) :- both(a,b), a < b.\n"),
            (rules{"out2(a,b) :- e(a,b), a < b.", "out2(a,b) :- e(b,a), a < b."}));
}

TEST(inlining, works_for_what_is_not_grounded_by_itself) {
  EXPECT_EQ(rules_of(".decl positive(x:number) inline\npositive(x) :- x > 0.\n"
                     "out(x) :- e(x,y), positive(x), !positive(y).\n"),
            (rules{"out(x) :- e(x,y), x > 0, y <= 0."}));
}

TEST(inlining, unifies_constants_repeated_variables_and_wildcards) {
  EXPECT_EQ(rules_of(".decl d(x:number, y:number, z:number) inline\nd(x, x, 3) :- e(x, y), y != 3.\n"
                     "out2(a,c) :- d(a,_,c).\n"),
            (rules{"out2(a,c) :- 3 = c, e(a,y@1), y@1 != 3."}));
  EXPECT_EQ(rules_of(".decl d(x:number, y:number) inline\nd(x, x) :- e(x, _).\nout2(a,b) :- d(a,b).\n"),
            (rules{"out2(a,b) :- a = b, e(a,_)."}));
}

TEST(inlining, is_applied_to_bodies_that_were_inlined) {
  EXPECT_EQ(
      rules_of(".decl a(x:number) inline\n.decl b(x:number) inline\na(x) :- e(x,y), b(y).\nb(x) :- e(x,y), y > x.\n"
               "out(x) :- a(x), a(x).\n"),
      (rules{"out(x) :- e(x,y@2), e(y@2,y@3), y@3 > y@2, e(x,y@4), e(y@4,y@5), y@5 > y@4."}));
}

TEST(inlining, is_refused_where_variables_would_come_in_and_in_aggregates) {
  const std::string declared =
      ".decl e(x:number, y:number)\n.input e\n.decl out(x:number)\n.decl a(x:number) inline\na(x) :- e(x,y), y > 3.\n";
  EXPECT_EQ(analysed_text(declared + "out(x) :- e(x,_), !a(x).\n").error_lines(), (std::set<std::uint32_t>{6}));
  EXPECT_EQ(analysed_text(declared + "out(x) :- e(x,_), !(a(x) ; x > 1).\n").error_lines(),
            (std::set<std::uint32_t>{6}));
  EXPECT_EQ(analysed_text(declared + "out(x) :- x = count : a(_).\n").error_lines(), (std::set<std::uint32_t>{6}));
  EXPECT_TRUE(analysed_text(declared + "out(x) :- e(x,_), !(!a(x)).\n").accepted());
  EXPECT_TRUE(
      analysed_text(declared + ".decl b(x:number) inline\nb(x) :- e(x,_).\nout(x) :- e(_,x), !b(x).\n").accepted());
}

TEST(inlining, negated_records_are_taken_apart) {
  const std::string declared =
      ".type P = [a:number, b:number]\n.decl p(r:P)\n.input p\n.decl none(r:P)\n"
      ".decl below(r:P) inline\nbelow([x, y]) :- x < y.\n";
  EXPECT_EQ(rules_of(declared + "out2(x, y) :- e(x, y), !below([x, y]).\n"), (rules{"out2(x,y) :- e(x,y), x >= y."}));
  EXPECT_EQ(rules_of(declared + "none(r) :- p(r), !below(r).\n").size(), 2U);
  // Nothing says what x is.
  EXPECT_FALSE(analysed_text(".decl e(x:number)\n.decl a(x:number) inline\na(x + 1) :- x > 0.\n"
                             ".decl out(x:number)\nout(x) :- e(x), !a(x).\n")
                   .accepted());
}

TEST(inlining, facts_are_bodies_too) {
  EXPECT_EQ(rules_of(".decl a(x:number) inline\na(1).\na(2).\nout(x) :- e(x,y), !a(y), a(x).\n"),
            (rules{"out(x) :- e(x,y), 1 != y, 2 != y, 1 = x.", "out(x) :- e(x,y), 1 != y, 2 != y, 2 = x."}));
}

TEST(inlining, cycles_and_directives_are_errors) {
  const analysed_text cyclic(
      ".decl e(x:number)\n.decl a(x:number) inline\n.decl b(x:number) inline\na(x) :- b(x).\nb(x) :- e(x).\nb(x) :- "
      "a(x).\n");
  EXPECT_FALSE(cyclic.accepted());
  EXPECT_EQ(
      cyclic.report.to_string(),
      "Warning: No rules/facts defined for relation e in file test.dl at line 1\n.decl "
      "e(x:number)\n------^-----------\n"
      "Error: Cannot inline cyclically dependent relations (a) in file test.dl at line 2\n.decl a(x:number) inline\n"
      "------^------------------\n1 errors generated, evaluation aborted\n");
  EXPECT_EQ(analysed_text(".decl a(x:number) inline\na(1).\n.output a\n").error_lines(),
            (std::set<std::uint32_t>{1, 3}));
}

TEST(inlining, type_errors_of_inlined_clauses_are_reported) {
  EXPECT_FALSE(analysed_text(".decl s(x:symbol)\n.decl a(x:number) inline\na(x) :- s(x).\n").accepted());
  EXPECT_FALSE(
      analysed_text(
          ".decl s(x:symbol)\n.decl a(x:number) inline\na(x) :- x > 0.\n.decl r(x:symbol)\nr(x) :- s(x), a(x).\n")
          .accepted());
}

// A definition's type need not agree with those of the other atoms: only the declared one of its relation has to.
TEST(inlining, types_are_those_of_the_clauses_as_written) {
  EXPECT_EQ(rules_of(".type stack <: number\n.type field <: number\n.type object = stack | field\n"
                     ".decl slot(x:stack, y:number)\n.input slot\n.decl part(x:field)\n.input part\n"
                     ".decl size(x:object, y:number) inline\nsize(x, y) :- slot(x, y).\n"
                     ".decl any(x:object) inline\nany(x) :- slot(x, _).\nany(x) :- part(x).\n"
                     "out(y) :- size(x, y), any(x).\n"),
            (rules{"out(y) :- slot(x,y), slot(x,_).", "out(y) :- slot(x,y), part(x)."}));
  const std::string records =
      ".type left <: symbol\n.type right <: symbol\n.type side = left | right\n.type pair = [a:side, n:number]\n"
      ".decl l(x:left)\n.input l\n.decl r(x:right)\n.input r\n.decl both(p:pair) inline\n"
      "both([x, 1]) :- l(x).\nboth([x, 2]) :- r(x).\n.decl is_right(x:side) inline\nis_right(x) :- r(x).\n";
  EXPECT_EQ(rules_of(records + "out(n) :- both([x, n]), is_right(x).\n"),
            (rules{"out(n) :- 1 = n, l(x), r(x).", "out(n) :- 2 = n, r(x), r(x)."}));
}

TEST(inlining, too_many_rules_are_explained) {
  std::string text = ".decl e(x:number)\ne(1).\n.decl a0(x:number) inline\na0(x) :- e(x).\na0(x) :- e(x), x < 7.\n";
  for (int number = 1; number < 5; ++number) {
    const std::string name = "a" + std::to_string(number);
    const std::string below = "a" + std::to_string(number - 1);
    text += ".decl " + name + "(x:number) inline\n" + name + "(x) :- " + below + "(x), " + below + "(x).\n";
  }
  const auto message_of = [&](const std::string& body) {
    const analysed_text analysed(text + ".decl o(x:number)\no(x) :- " + body + ".\n");
    return analysed.report.to_public().back().message;
  };
  EXPECT_EQ(message_of("a4(x)"), "Inlining a4 expands this rule to too many rules: 65536");
  EXPECT_EQ(message_of("a3(x), e(x), a3(x), !a1(x)"), "Inlining a3 and a1 expands this rule to too many rules: 262144");
  EXPECT_EQ(message_of("a4(x), a4(x), a4(x), a4(x)"),
            "Inlining a4 expands this rule to too many rules: at least 18446744073709551615");
}

TEST(inlining, growth_without_end_is_no_crash) {
  std::string text = ".decl a0(x:number) inline\na0(x) :- e(x,_).\n";
  for (int number = 1; number < 400; ++number) {
    const std::string name = "a" + std::to_string(number);
    const std::string below = "a" + std::to_string(number - 1);
    text += ".decl " + name + "(x:number) inline\n" + name + "(x) :- " + below + "(x), " + below + "(x).\n";
  }
  const rules found = rules_of(text + "out(x) :- a399(x).\n");
  EXPECT_EQ(found.size(), 394U);
  EXPECT_EQ(found.back(), "out(x) :- a399(x).");
}

}  // namespace
}  // namespace gpulog
