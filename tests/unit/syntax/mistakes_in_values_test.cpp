#include "parsing.hpp"

namespace gpulog::syntax {
namespace {

TEST(mistakes_in_values, list) {
  EXPECT_EQ(report_on_mistake(R"(p([H|T]) :- q(H).)"),
            R"(Error: syntax error, unexpected | in file test.dl at line 4
p([H|T]) :- q(H).
----^-------------
A list is a record: [head, tail]
)");
}

TEST(mistakes_in_values, branch_without_dollar) {
  EXPECT_EQ(report_on_mistake(R"(.type T = A {x:number} | B {}
.decl t(x:T)
t(A(1)).)"),
            R"(Error: syntax error, unexpected ( in file test.dl at line 6
t(A(1)).
---^-----
A is a branch of type T: write $A(...)
)");
}

TEST(mistakes_in_values, branch_declared_later) {
  EXPECT_EQ(report_on_mistake(R"(.decl t(x:T)
t(A(1)).
.type T = A {x:number} | B {})"),
            R"(Error: syntax error, unexpected ( in file test.dl at line 5
t(A(1)).
---^-----
A is a branch of type T: write $A(...)
)");
}

TEST(mistakes_in_values, relation_as_value) {
  EXPECT_EQ(report_on_mistake(R"(p(q(1)).)"),
            R"(Error: syntax error, unexpected ( in file test.dl at line 4
p(q(1)).
---^-----
q is a relation; an atom is a literal of its own and not a value
)");
}

TEST(mistakes_in_values, unknown_functor) {
  EXPECT_EQ(report_on_mistake(R"(p(wavelet(x)) :- q(x).)"),
            R"(Error: syntax error, unexpected ( in file test.dl at line 4
p(wavelet(x)) :- q(x).
---------^-------------
There is no functor or macro wavelet; a functor of a library is declared by .functor and called as @wavelet(...)
)");
}

TEST(mistakes_in_values, macro_without_dot) {
  EXPECT_EQ(report_on_mistake(R"(IMPL(a,b)
p(x) :- q(x).)"),
            R"(Error: syntax error, missing . at the end of the clause in file test.dl at line 4
IMPL(a,b)
---------^
The next one begins here in file test.dl at line 5
p(x) :- q(x).
^-------------
There is no relation or macro IMPL
)");
}

TEST(mistakes_in_values, quote_is_missing) {
  EXPECT_EQ(report_on_mistake(R"(.decl s(x:symbol)
s("abc).
s("d").
s("e").)"),
            R"(Error: syntax error, unexpected identifier in file test.dl at line 6
s("d").
---^----
The symbol that begins here ends on another line; its closing quote may be missing in file test.dl at line 5
s("abc).
--^------
)");
}

TEST(mistakes_in_values, last_quote_is_missing) {
  EXPECT_EQ(report_on_mistake(R"(.decl s(x:symbol)
s("abc).
)"),
            R"(Error: unexpected " in file test.dl at line 5
s("abc).
--^------
The quote is not closed: a symbol ends with "
)");
}

TEST(mistakes_in_values, float_without_first_digit) {
  EXPECT_EQ(report_on_mistake(R"(p(.5).
p(-.5) :- q(x), x < .5.)"),
            R"(Error: syntax error, unexpected . in file test.dl at line 4
p(.5).
--^----
A float has digits on both sides of its dot: 0.5
Error: syntax error, unexpected . in file test.dl at line 5
p(-.5) :- q(x), x < .5.
---^--------------------
A float has digits on both sides of its dot: 0.5
)");
}

TEST(mistakes_in_values, float_without_last_digit) {
  EXPECT_EQ(report_on_mistake(R"(p(2.).)"),
            R"(Error: syntax error, unexpected . in file test.dl at line 4
p(2.).
---^---
A float has digits on both sides of its dot: 2.0
)");
}

TEST(mistakes_in_values, float_at_the_end) {
  EXPECT_EQ(report_on_mistake(R"(p(x) :- x = 2. .)"),
            R"(Error: syntax error, unexpected . in file test.dl at line 4
p(x) :- x = 2. .
---------------^-
A float has digits on both sides of its dot: 2.0
)");
}

TEST(mistakes_in_values, exponent) {
  EXPECT_EQ(report_on_mistake(R"(p(1e5).
p(1.5e3).
p(1e-2).)"),
            R"(Error: syntax error, unexpected identifier in file test.dl at line 4
p(1e5).
---^----
A float is written without an exponent: 100000.0
Error: syntax error, unexpected identifier in file test.dl at line 5
p(1.5e3).
-----^----
A float is written without an exponent: 1500.0
Error: syntax error, unexpected identifier in file test.dl at line 6
p(1e-2).
---^-----
A float is written without an exponent: 0.01
)");
}

TEST(mistakes_in_values, large_exponent) {
  EXPECT_EQ(report_on_mistake(R"(p(1e300).)"),
            R"(Error: syntax error, unexpected identifier in file test.dl at line 4
p(1e300).
---^------
A float is written without an exponent: 100000.0
)");
}

TEST(mistakes_in_values, truth_value) {
  EXPECT_EQ(report_on_mistake(R"(p(true).
p(x) :- q(x), x = false.)"),
            R"(Error: syntax error, unexpected true literal constraint in file test.dl at line 4
p(true).
--^------
There is no type bool: use a number that is 0 or 1, or an ADT such as .type Bool = Yes {} | No {}
Error: syntax error, unexpected false literal constraint in file test.dl at line 5
p(x) :- q(x), x = false.
------------------^------
There is no type bool: use a number that is 0 or 1, or an ADT such as .type Bool = Yes {} | No {}
)");
}

TEST(mistakes_in_values, field) {
  EXPECT_EQ(report_on_mistake(R"(.type R = [x:number]
.decl e(a:R)
p(a.x) :- e(a).)"),
            R"(Error: syntax error, unexpected . in file test.dl at line 6
p(a.x) :- e(a).
---^------------
A field of a record is read with a pattern: a = [x, _]
)");
}

TEST(mistakes_in_values, field_in_an_equality) {
  EXPECT_EQ(report_on_mistake(R"(.type R = [x:number]
.decl e(a:R)
p(y) :- e(a), y = a.x.)"),
            R"(Error: syntax error, unexpected ., expecting ( in file test.dl at line 6
p(y) :- e(a), y = a.x.
---------------------^-
A field of a record is read with a pattern: a = [x, _]
)");
}

TEST(mistakes_in_values, field_in_a_comparison) {
  EXPECT_EQ(report_on_mistake(R"(.type R = [x:number]
.decl e(a:R)
p(1) :- e(a), a.x > 1.)"),
            R"(Error: syntax error, unexpected >, expecting ( or . in file test.dl at line 6
p(1) :- e(a), a.x > 1.
------------------^----
A field of a record is read with a pattern: a = [x, _]
)");
}

TEST(mistakes_in_values, plus_of_symbols) {
  EXPECT_EQ(report_on_mistake(R"(.decl s(x:symbol)
s("a" ++ "b").)"),
            R"(Error: syntax error, unexpected + in file test.dl at line 5
s("a" ++ "b").
-------^-------
Symbols are joined by cat: cat("a", "b")
)");
}

TEST(mistakes_in_values, dot_of_symbols) {
  EXPECT_EQ(report_on_mistake(R"(.decl s(x:symbol)
s("a" . "b").)"),
            R"(Error: syntax error, unexpected . in file test.dl at line 5
s("a" . "b").
------^-------
Symbols are joined by cat: cat("a", "b")
)");
}

TEST(mistakes_in_values, dot_of_variables) {
  EXPECT_EQ(report_on_mistake(R"(.decl s(x:symbol)
s(z) :- s(x), s(y), z = x . y.
.output s)"),
            R"(Error: syntax error, unexpected ., expecting ( in file test.dl at line 5
s(z) :- s(x), s(y), z = x . y.
-----------------------------^-
Symbols are joined by cat: cat("a", "b")
)");
}

TEST(mistakes_in_values, control_character) {
  EXPECT_EQ(report_on_mistake("p(1).\001"),
            "Error: unexpected U+0001 in file test.dl at line 4\n"
            "p(1).\001\n"
            "-----^-\n"
            "This is a control character: delete it\n");
}

TEST(mistakes_in_values, nul) {
  EXPECT_EQ(report_on_mistake(std::string("p(1).\000", 6)),
            std::string("Error: unexpected U+0000 in file test.dl at line 4\n"
                        "p(1).\000\n"
                        "-----^-\n"
                        "This is a control character: delete it\n",
                        105));
}

TEST(mistakes_in_values, minus_sign) {
  EXPECT_EQ(report_on_mistake("p(\342\210\2221)."),
            "Error: unexpected \342\210\222 in file test.dl at line 4\n"
            "p(\342\210\2221).\n"
            "--^------\n"
            "This is U+2212 (minus sign): write -\n");
}

TEST(mistakes_in_values, en_dash) {
  EXPECT_EQ(report_on_mistake("p(3 \342\200\223 1)."),
            "Error: unexpected \342\200\223 in file test.dl at line 4\n"
            "p(3 \342\200\223 1).\n"
            "----^-------\n"
            "This is U+2013 (en dash): write -\n");
}

TEST(mistakes_in_values, zero_width_space) {
  EXPECT_EQ(report_on_mistake("p(\342\200\2131)."),
            "Error: unexpected \342\200\213 in file test.dl at line 4\n"
            "p(\342\200\2131).\n"
            "--^------\n"
            "This is U+200B (zero width space): delete it or write a blank\n");
}

TEST(mistakes_in_values, other_character) {
  EXPECT_EQ(report_on_mistake("p(\316\261)."),
            "Error: unexpected \316\261 in file test.dl at line 4\n"
            "p(\316\261).\n"
            "--^----\n"
            "This is U+03B1: outside of symbols and comments all characters are ASCII\n");
}

}  // namespace
}  // namespace gpulog::syntax
