#include "parsing.hpp"

namespace gpulog::syntax {
namespace {

TEST(mistakes_in_rules, reserved_relation) {
  EXPECT_EQ(
      report_on_mistake(R"(.decl contains(x:number)
contains(1).
p(x) :- contains(x).
.output contains)"),
      R"(Error: syntax error, unexpected checks whether substring is contained in a string, expecting identifier in file test.dl at line 4
.decl contains(x:number)
------^------------------
'contains' is a reserved word; choose another name
)");
}

TEST(mistakes_in_rules, reserved_aggregate_as_relation) {
  EXPECT_EQ(report_on_mistake(R"(.decl count(x:number)
count(1).
p(x) :- count(x), q(x).
.output count)"),
            R"(Error: syntax error, unexpected count aggregator, expecting identifier in file test.dl at line 4
.decl count(x:number)
------^---------------
'count' is a reserved word; choose another name
)");
}

TEST(mistakes_in_rules, reserved_input) {
  EXPECT_EQ(report_on_mistake(R"(.decl input(x:number)
input(1).
p(x) :- input(x).)"),
            R"(Error: syntax error, unexpected relation qualifier input, expecting identifier in file test.dl at line 4
.decl input(x:number)
------^---------------
'input' is a reserved word; choose another name
)");
}

TEST(mistakes_in_rules, reserved_attribute) {
  EXPECT_EQ(report_on_mistake(R"(.decl a(min:number, ord:number))"),
            R"(Error: syntax error, unexpected min aggregator, expecting identifier or ) in file test.dl at line 4
.decl a(min:number, ord:number)
--------^-----------------------
'min' is a reserved word; choose another name
)");
}

TEST(mistakes_in_rules, reserved_variable) {
  EXPECT_EQ(report_on_mistake(R"(p(cat) :- q(cat).)"),
            R"(Error: syntax error, unexpected ), expecting ( in file test.dl at line 4
p(cat) :- q(cat).
-----^------------
'cat' is a reserved word; choose another name, or write a call as cat(...)
)");
}

TEST(mistakes_in_rules, reserved_variable_named_as_aggregate) {
  EXPECT_EQ(report_on_mistake(R"(p(count) :- q(count).)"),
            R"(Error: syntax error, unexpected ), expecting ( or : in file test.dl at line 4
p(count) :- q(count).
-------^--------------
'count' is a reserved word; choose another name. The aggregate count is written n = count : sale(s, _)
)");
}

TEST(mistakes_in_rules, reserved_variable_named_as_test) {
  EXPECT_EQ(report_on_mistake(R"(p(match) :- q(match).)"),
            R"(Error: syntax error, unexpected match predicate in file test.dl at line 4
p(match) :- q(match).
--^-------------------
'match' is a reserved word; choose another name
)");
}

TEST(mistakes_in_rules, reserved_fact) {
  EXPECT_EQ(report_on_mistake(R"(output(1).)"),
            R"(Warning: Deprecated output qualifier was used in file test.dl at line 4
output(1).
^----------
Error: syntax error, unexpected ( in file test.dl at line 4
output(1).
------^----
'output' is a reserved word; choose another name
)");
}

TEST(mistakes_in_rules, reserved_in_a_body) {
  EXPECT_EQ(report_on_mistake(R"(p(x) :- q(x), contains(x).)"),
            R"(Error: syntax error, unexpected ) in file test.dl at line 4
p(x) :- q(x), contains(x).
------------------------^--
'contains' is a reserved word; choose another name. The test of a symbol is written contains("a", x)
)");
}

TEST(mistakes_in_rules, reserved_functor_in_a_body) {
  EXPECT_EQ(report_on_mistake(R"(p(x) :- q(x), ord(x).)"),
            R"(Error: syntax error, unexpected . in file test.dl at line 4
p(x) :- q(x), ord(x).
--------------------^-
'ord' is a reserved word, and ord(...) is a value; choose another name, or compare the value, as in n = ord(...)
)");
}

TEST(mistakes_in_rules, other_errors_after_a_reserved_word) {
  EXPECT_EQ(report_on_mistake(R"(.decl count(x:number)
count(1).
p(x) :- q(x))"),
            R"(Error: syntax error, unexpected count aggregator, expecting identifier in file test.dl at line 4
.decl count(x:number)
------^---------------
'count' is a reserved word; choose another name
Error: syntax error, missing . at the end of the clause in file test.dl at line 6
p(x) :- q(x)
------------^
The program ends here in file test.dl at line 6
p(x) :- q(x)
------------^
)");
}

TEST(mistakes_in_rules, count_with_a_target) {
  EXPECT_EQ(report_on_mistake(R"(p(c) :- c = count(x) : { q(x) }.)"),
            R"(Error: incorrect expression arity for given aggregate mode in file test.dl at line 4
p(c) :- c = count(x) : { q(x) }.
------------^--------------------
The aggregate count is written n = count : sale(s, _)
)");
}

TEST(mistakes_in_rules, sum_without_a_target) {
  EXPECT_EQ(report_on_mistake(R"(p(c) :- c = sum : { q(_) }.)"),
            R"(Error: incorrect expression arity for given aggregate mode in file test.dl at line 4
p(c) :- c = sum : { q(_) }.
------------^---------------
The aggregate sum is written n = sum a : sale(s, a)
)");
}

TEST(mistakes_in_rules, count_without_a_colon) {
  EXPECT_EQ(report_on_mistake(R"(p(c) :- c = count{ q(_) }.)"),
            R"(Error: syntax error, unexpected {, expecting ( or : in file test.dl at line 4
p(c) :- c = count{ q(_) }.
-----------------^---------
The aggregate count is written n = count : sale(s, _)
)");
}

TEST(mistakes_in_rules, max_of_a_set) {
  EXPECT_EQ(report_on_mistake(R"(p(c) :- c = max { x : q(x) }.)"),
            R"(Error: syntax error, unexpected {, expecting ( or : in file test.dl at line 4
p(c) :- c = max { x : q(x) }.
----------------^-------------
The aggregate max is written n = max a : sale(s, a); of two values, max(a, b)
)");
}

TEST(mistakes_in_rules, max_in_a_head) {
  EXPECT_EQ(report_on_mistake(R"(p(max(y)) :- q(y).)"),
            R"(Error: syntax error, unexpected ) in file test.dl at line 4
p(max(y)) :- q(y).
--------^----------
The aggregate max is written n = max a : sale(s, a); of two values, max(a, b)
)");
}

TEST(mistakes_in_rules, count_of_a_relation) {
  EXPECT_EQ(report_on_mistake(R"(p(c) :- c = count(q).)"),
            R"(Error: syntax error, unexpected . in file test.dl at line 4
p(c) :- c = count(q).
--------------------^-
The aggregate count is written n = count : sale(s, _)
)");
}

TEST(mistakes_in_rules, count_of_an_atom) {
  EXPECT_EQ(report_on_mistake(R"(p(c) :- c = count(q(_)).)"),
            R"(Error: syntax error, unexpected ( in file test.dl at line 4
p(c) :- c = count(q(_)).
-------------------^-----
The aggregate count is written n = count : sale(s, _)
)");
}

TEST(mistakes_in_rules, sum_with_a_comma) {
  EXPECT_EQ(report_on_mistake(R"(p(c) :- c = sum(x, q(x)).)"),
            R"(Error: syntax error, unexpected ( in file test.dl at line 4
p(c) :- c = sum(x, q(x)).
--------------------^-----
The aggregate sum is written n = sum a : sale(s, a)
)");
}

TEST(mistakes_in_rules, sum_of_two) {
  EXPECT_EQ(report_on_mistake(R"(p(c) :- q(x), c = sum(x, x).)"),
            R"(Error: aggregate operation has no functor equivalent in file test.dl at line 4
p(c) :- q(x), c = sum(x, x).
------------------^----------
The aggregate sum is written n = sum a : sale(s, a)
)");
}

TEST(mistakes_in_rules, dot_inside_a_rule) {
  EXPECT_EQ(report_on_mistake(R"(p(x) :- q(x). x > 1.)"),
            R"(Error: syntax error, unexpected >, expecting ( or . in file test.dl at line 4
p(x) :- q(x). x > 1.
----------------^----
The dot before this place ends the rule; a comma joins literals
)");
}

TEST(mistakes_in_rules, dot_before_a_negation) {
  EXPECT_EQ(report_on_mistake(R"(p(x) :- q(x).
  !r(x).)"),
            R"(Error: syntax error, unexpected ! in file test.dl at line 5
  !r(x).
--^------
The dot before this place ends the rule; a comma joins literals
)");
}

TEST(mistakes_in_rules, heads_with_a_semicolon) {
  EXPECT_EQ(report_on_mistake(R"(p(x) ; r(x) :- q(x).)"),
            R"(Error: syntax error, unexpected ;, expecting :- or "," or . or <= in file test.dl at line 4
p(x) ; r(x) :- q(x).
-----^---------------
Several heads are joined with a comma: a(x), b(x) :- body.
)");
}

TEST(mistakes_in_rules, heads_with_a_bar) {
  EXPECT_EQ(report_on_mistake(R"(p(x) | r(x) :- q(x).)"),
            R"(Error: syntax error, unexpected |, expecting :- or "," or . or <= in file test.dl at line 4
p(x) | r(x) :- q(x).
-----^---------------
Several heads are joined with a comma: a(x), b(x) :- body.
)");
}

TEST(mistakes_in_rules, facts_with_semicolons) {
  EXPECT_EQ(report_on_mistake(R"(q(1); q(2);)"),
            R"(Error: syntax error, unexpected ;, expecting :- or "," or . or <= in file test.dl at line 4
q(1); q(2);
----^-------
A clause ends with a dot
)");
}

TEST(mistakes_in_rules, question) {
  EXPECT_EQ(report_on_mistake(R"(p(x) :- q(x).
?- p(x).)"),
            R"(Error: syntax error, unexpected -, expecting ( or . in file test.dl at line 5
?- p(x).
-^-------
A query is not part of a program: ask it with query('p(x)')
)");
}

TEST(mistakes_in_rules, question_mark) {
  EXPECT_EQ(report_on_mistake(R"(p(1)?)"),
            R"(Error: syntax error, unexpected identifier, expecting :- or "," or . or <= in file test.dl at line 4
p(1)?
----^-
A query is not part of a program: ask it with query('p(x)')
)");
}

TEST(mistakes_in_rules, headless_rule) {
  EXPECT_EQ(report_on_mistake(R"(:- p(x).)"),
            R"(Error: syntax error, unexpected :- in file test.dl at line 4
:- p(x).
^--------
A query is not part of a program: ask it with query('p(x)')
)");
}

TEST(mistakes_in_rules, assignment) {
  EXPECT_EQ(report_on_mistake(R"(p(z) :- q(y), z := y+1.)"),
            R"(Error: syntax error, unexpected : in file test.dl at line 4
p(z) :- q(y), z := y+1.
----------------^-------
Equality is written =: x = y + 1
)");
}

TEST(mistakes_in_rules, membership) {
  EXPECT_EQ(report_on_mistake(R"(p(x) :- q(x), x in {1,2}.)"),
            R"(Error: syntax error, unexpected identifier in file test.dl at line 4
p(x) :- q(x), x in {1,2}.
----------------^---------
A choice of values is written as alternatives: (x = 1 ; x = 2)
)");
}

TEST(mistakes_in_rules, negated_head) {
  EXPECT_EQ(report_on_mistake(R"(!p(x) :- q(x).)"),
            R"(Error: syntax error, unexpected ! in file test.dl at line 4
!p(x) :- q(x).
^--------------
The head of a rule cannot be negated
)");
}

TEST(mistakes_in_rules, if_then) {
  EXPECT_EQ(report_on_mistake(R"(p(y) :- q(x), if x > 0 then y = 1.)"),
            R"(Error: syntax error, unexpected identifier in file test.dl at line 4
p(y) :- q(x), if x > 0 then y = 1.
-----------------^-----------------
Cases are alternatives: (x > 0, y = 1 ; x <= 0, y = 2)
)");
}

TEST(mistakes_in_rules, if_as_a_value) {
  EXPECT_EQ(report_on_mistake(R"(p(y) :- q(x), y = if x > 0 then 1.)"),
            R"(Error: syntax error, unexpected identifier in file test.dl at line 4
p(y) :- q(x), y = if x > 0 then 1.
---------------------^-------------
Cases are alternatives: (x > 0, y = 1 ; x <= 0, y = 2)
)");
}

TEST(mistakes_in_rules, if_as_a_rule) {
  EXPECT_EQ(report_on_mistake(R"(if q(x) then p(x).)"),
            R"(Error: syntax error, unexpected identifier, expecting ( or . in file test.dl at line 4
if q(x) then p(x).
---^---------------
A rule is written head :- body.
)");
}

TEST(mistakes_in_rules, comparison_of_three) {
  EXPECT_EQ(report_on_mistake(R"(p(x) :- q(x), 1 < x < 3.)"),
            R"(Error: syntax error, unexpected < in file test.dl at line 4
p(x) :- q(x), 1 < x < 3.
--------------------^----
A comparison is a literal of two values: 1 < x, x < 3
)");
}

TEST(mistakes_in_rules, rule_that_ends_with_a_semicolon) {
  EXPECT_EQ(report_on_mistake(R"(p(x) :- q(x);
p(x) :- r(x).)"),
            R"(Error: syntax error, unexpected :-, expecting "," or ; or . in file test.dl at line 5
p(x) :- r(x).
-----^--------
The clause before this one ends with a semicolon; a clause ends with a dot
)");
}

TEST(mistakes_in_rules, last_rule_that_ends_with_a_semicolon) {
  EXPECT_EQ(report_on_mistake(R"(p(x) :- q(x);
.output p)"),
            R"(Error: syntax error, unexpected output directives declaration in file test.dl at line 5
.output p
^---------
A clause ends with a dot
)");
}

TEST(mistakes_in_rules, nullary_without_parentheses) {
  EXPECT_EQ(report_on_mistake(R"(.decl n()
n :- q(_).)"),
            R"(Error: syntax error, unexpected :-, expecting ( or . in file test.dl at line 5
n :- q(_).
--^--------
A relation without attributes is written with parentheses: a()
)");
}

}  // namespace
}  // namespace gpulog::syntax
