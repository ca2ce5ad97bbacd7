#include <gtest/gtest.h>

#include "analysed_text.hpp"

namespace gpulog {
namespace {

TEST(mistakes, branch_without_dollar) {
  EXPECT_EQ(report_on_mistake(R"(.type T = A {x:number} | B {}
.decl t(x:T)
t(B).)"),
            R"(Error: Argument in fact is not constant: variable B in file test.dl at line 6
t(B).
--^---
B is a branch of type T: write $B
)");
}

TEST(mistakes, branch_in_a_rule) {
  EXPECT_EQ(report_on_mistake(R"(.type T = A {x:number} | B {}
.decl t(x:T)
t(B) :- q(_).)"),
            R"(Error: Ungrounded variable B in file test.dl at line 6
t(B) :- q(_).
--^-----------
B is a branch of type T: write $B
)");
}

TEST(mistakes, macro) {
  EXPECT_EQ(report_on_mistake(R"(IMPL(a,b).)"),
            R"(Error: Undefined relation IMPL in file test.dl at line 4
IMPL(a,b).
^----------
There is no macro IMPL either; #define defines one
)");
}

TEST(mistakes, macro_in_a_body) {
  EXPECT_EQ(report_on_mistake(R"(p(x) :- q(x), IMPL(x).)"),
            R"(Error: Undefined relation IMPL in file test.dl at line 4
p(x) :- q(x), IMPL(x).
--------------^--------
There is no macro IMPL either; #define defines one
)");
}

TEST(mistakes, dot_inside_a_rule) {
  EXPECT_EQ(report_on_mistake(R"(p(x) :- q(x). r(x).)"),
            R"(Error: Argument in fact is not constant: variable x in file test.dl at line 4
p(x) :- q(x). r(x).
----------------^---
This dot ends the rule; a comma joins literals in file test.dl at line 4
p(x) :- q(x). r(x).
------------^-------
)");
}

TEST(mistakes, dot_inside_a_rule_of_two_lines) {
  EXPECT_EQ(report_on_mistake(R"(p(x) :- q(x).
  r(x).)"),
            R"(Error: Argument in fact is not constant: variable x in file test.dl at line 5
  r(x).
----^---
This dot ends the rule; a comma joins literals in file test.dl at line 4
p(x) :- q(x).
------------^-
)");
}

TEST(mistakes, fact_on_a_new_line) {
  EXPECT_EQ(report_on_mistake(R"(p(x) :- q(x).
r(x).)"),
            R"(Error: Argument in fact is not constant: variable x in file test.dl at line 5
r(x).
--^---
A symbol is written in double quotes: "x"
)");
}

TEST(mistakes, other_case) {
  EXPECT_EQ(report_on_mistake(R"(p(X) :- q(x).)"),
            R"(Error: Ungrounded variable X, did you mean 'x'? in file test.dl at line 4
p(X) :- q(x).
--^-----------
)");
}

TEST(mistakes, misspelled_variable) {
  EXPECT_EQ(report_on_mistake(R"(p(vaule) :- q(value).)"),
            R"(Error: Ungrounded variable vaule, did you mean 'value'? in file test.dl at line 4
p(vaule) :- q(value).
--^-------------------
)");
}

TEST(mistakes, no_variable_like_it) {
  EXPECT_EQ(report_on_mistake(R"(p(result) :- q(x).)"),
            R"(Error: Ungrounded variable result in file test.dl at line 4
p(result) :- q(x).
--^----------------
No atom binds result; add an atom with the argument result
)");
}

TEST(mistakes, variable_in_a_negation) {
  EXPECT_EQ(report_on_mistake(R"(p(x) :- !q(x).)"),
            R"(Error: Ungrounded variable x in file test.dl at line 4
p(x) :- !q(x).
--^------------
A negated atom does not bind x; an atom without ! does
)");
}

TEST(mistakes, variable_in_a_comparison) {
  EXPECT_EQ(report_on_mistake(R"(p(x) :- q(y), x > y.)"),
            R"(Error: Ungrounded variable x in file test.dl at line 4
p(x) :- q(y), x > y.
--^------------------
A comparison does not bind x; an atom does, or an equality with a bound value
)");
}

TEST(mistakes, variable_in_an_equality) {
  EXPECT_EQ(report_on_mistake(R"(p(x) :- q(y), x = z + y.)"),
            R"(Error: Ungrounded variable x in file test.dl at line 4
p(x) :- q(y), x = z + y.
--^----------------------
An equality binds x only if one side is x alone and the other side is bound
Error: Ungrounded variable z in file test.dl at line 4
p(x) :- q(y), x = z + y.
------------------^------
An equality binds z only if one side is z alone and the other side is bound
)");
}

TEST(mistakes, variable_in_an_expression) {
  EXPECT_EQ(report_on_mistake(R"(p(x) :- q(x + 1).)"),
            R"(Error: Ungrounded variable x in file test.dl at line 4
p(x) :- q(x + 1).
--^---------------
An expression in an atom does not bind x; x alone as an argument does
)");
}

TEST(mistakes, bool) {
  EXPECT_EQ(report_on_mistake(R"(.decl b(x:bool))"),
            R"(Error: Undefined type bool in attribute x:bool in file test.dl at line 4
.decl b(x:bool)
----------^-----
There is no type bool: use a number that is 0 or 1, or an ADT such as .type Bool = Yes {} | No {}
)");
}

TEST(mistakes, branches_without_braces) {
  EXPECT_EQ(report_on_mistake(R"(.type T = A | B
.decl t(x:T)
t($A()).)"),
            R"(Error: Undefined type A in the definition of union type T in file test.dl at line 4
.type T = A | B
----------^-----
A branch of an algebraic data type has braces: A {x:number}, B {}
Error: Undefined type B in the definition of union type T in file test.dl at line 4
.type T = A | B
--------------^-
A branch of an algebraic data type has braces: A {x:number}, B {}
Error: Undefined branch $A in file test.dl at line 6
t($A()).
---^-----
)");
}

TEST(mistakes, member_like_a_type) {
  EXPECT_EQ(
      report_on_mistake(R"(.type T = nubmer | Id
.type Id <: number)"),
      R"(Error: Undefined type nubmer in the definition of union type T, did you mean 'number'? in file test.dl at line 4
.type T = nubmer | Id
----------^-----------
)");
}

TEST(mistakes, relation_of_a_component) {
  EXPECT_EQ(report_on_mistake(R"(.comp C { .decl e(x:number) }
.init c = C
.output e)"),
            R"(Error: Undefined relation e, did you mean 'c.e'? in file test.dl at line 6
.output e
--------^-
)");
}

TEST(mistakes, question_as_a_relation) {
  EXPECT_EQ(report_on_mistake(R"(?p(x).)"),
            R"(Error: Undefined relation ?p, did you mean 'p'? in file test.dl at line 4
?p(x).
^------
A query is not part of a program: ask it with query('p(x)')
)");
}

}  // namespace
}  // namespace gpulog
