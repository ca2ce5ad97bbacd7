#include "parsing.hpp"

namespace gpulog::syntax {
namespace {

TEST(mistakes_in_declarations, declaration_with_a_semicolon) {
  EXPECT_EQ(report_on_mistake(R"(.decl e(x:number);
e(1).)"),
            R"(Error: syntax error, unexpected ; in file test.dl at line 4
.decl e(x:number);
-----------------^-
Declarations and directives have no end mark
)");
}

TEST(mistakes_in_declarations, directive_with_a_semicolon) {
  EXPECT_EQ(report_on_mistake(R"(.output p;
.output q;)"),
            R"(Error: syntax error, unexpected ; in file test.dl at line 4
.output p;
---------^-
Declarations and directives have no end mark
Error: syntax error, unexpected ; in file test.dl at line 5
.output q;
---------^-
Declarations and directives have no end mark
)");
}

TEST(mistakes_in_declarations, declaration_with_a_dot) {
  EXPECT_EQ(report_on_mistake(R"(.decl e(x:number).
e(1).)"),
            R"(Error: syntax error, unexpected . in file test.dl at line 4
.decl e(x:number).
-----------------^-
Declarations and directives have no end mark
)");
}

TEST(mistakes_in_declarations, directive_with_a_dot) {
  EXPECT_EQ(report_on_mistake(R"(.output p.
q(1).)"),
            R"(Error: syntax error, unexpected . in file test.dl at line 4
.output p.
---------^-
Declarations and directives have no end mark
)");
}

TEST(mistakes_in_declarations, directive_with_a_dot_before_a_directive) {
  EXPECT_EQ(report_on_mistake(R"(.output p.
.output q)"),
            R"(Error: syntax error, unexpected . in file test.dl at line 4
.output p.
---------^-
Declarations and directives have no end mark
)");
}

TEST(mistakes_in_declarations, type_with_a_dot) {
  EXPECT_EQ(report_on_mistake(R"(.type T <: number.
.decl e(x:T))"),
            R"(Error: syntax error, unexpected . in file test.dl at line 4
.type T <: number.
-----------------^-
Declarations and directives have no end mark
)");
}

TEST(mistakes_in_declarations, output_with_columns) {
  EXPECT_EQ(report_on_mistake(R"(.output p(x))"),
            R"(Error: syntax error, unexpected ), expecting = in file test.dl at line 4
.output p(x)
-----------^-
A directive has parameters in parentheses, not columns: .output p or .output p(filename="p.csv")
)");
}

TEST(mistakes_in_declarations, input_with_a_file) {
  EXPECT_EQ(report_on_mistake(R"(.input p "p.csv"
q(1).)"),
            R"(Error: syntax error, unexpected symbol in file test.dl at line 4
.input p "p.csv"
---------^-------
A directive has names of relations, then parameters: .input e(filename="e.csv")
)");
}

TEST(mistakes_in_declarations, input_with_an_unquoted_file) {
  EXPECT_EQ(report_on_mistake(R"(.input p(filename=p.csv)
q(1).)"),
            R"(Error: syntax error, unexpected ., expecting ) or "," in file test.dl at line 4
.input p(filename=p.csv)
-------------------^-----
A value that is neither a name nor a number is written in double quotes: "x.csv"
)");
}

TEST(mistakes_in_declarations, input_without_a_key) {
  EXPECT_EQ(report_on_mistake(R"(.input p("p.csv"))"),
            R"(Error: syntax error, unexpected symbol, expecting identifier or ) in file test.dl at line 4
.input p("p.csv")
---------^--------
A parameter is written name=value: filename="x.csv"
)");
}

TEST(mistakes_in_declarations, input_with_a_path) {
  EXPECT_EQ(report_on_mistake(R"(.input p(filename=/tmp/p.csv)
q(1).)"),
            R"(Error: syntax error, unexpected / in file test.dl at line 4
.input p(filename=/tmp/p.csv)
------------------^-----------
A value that is neither a name nor a number is written in double quotes: "x.csv"
)");
}

TEST(mistakes_in_declarations, input_without_parentheses) {
  EXPECT_EQ(report_on_mistake(R"(.input p filename="p.csv")"),
            R"(Error: syntax error, unexpected =, expecting ( or . in file test.dl at line 4
.input p filename="p.csv"
-----------------^--------
A directive has names of relations, then parameters: .input e(filename="e.csv")
)");
}

TEST(mistakes_in_declarations, input_of_a_file) {
  EXPECT_EQ(report_on_mistake(R"(.input "p.csv")"),
            R"(Error: syntax error, unexpected symbol, expecting identifier in file test.dl at line 4
.input "p.csv"
-------^-------
A directive has names of relations, then parameters: .input e(filename="e.csv")
)");
}

TEST(mistakes_in_declarations, branch_with_parentheses) {
  EXPECT_EQ(report_on_mistake(R"(.type T = A(x:number) | B {})"),
            R"(Error: syntax error, unexpected ( in file test.dl at line 4
.type T = A(x:number) | B {}
-----------^-----------------
A branch of an algebraic data type has braces: A {x:number}, B {}
)");
}

TEST(mistakes_in_declarations, later_branch_with_parentheses) {
  EXPECT_EQ(report_on_mistake(R"(.type T = A {} | B(x:number))"),
            R"(Error: syntax error, unexpected (, expecting { in file test.dl at line 4
.type T = A {} | B(x:number)
------------------^----------
A branch of an algebraic data type has braces: A {x:number}, B {}
)");
}

TEST(mistakes_in_declarations, later_branch_without_braces) {
  EXPECT_EQ(report_on_mistake(R"(.type T = A {} | B
.decl t(x:T))"),
            R"(Error: syntax error, unexpected relation declaration, expecting { in file test.dl at line 5
.decl t(x:T)
^------------
A branch of an algebraic data type has braces: A {x:number}, B {}
)");
}

TEST(mistakes_in_declarations, first_branch_without_braces) {
  EXPECT_EQ(report_on_mistake(R"(.type T = A | B {})"),
            R"(Error: syntax error, unexpected { in file test.dl at line 4
.type T = A | B {}
----------------^--
A branch of an algebraic data type has braces: A {x:number}, B {}
)");
}

TEST(mistakes_in_declarations, record_type_with_braces) {
  EXPECT_EQ(report_on_mistake(R"(.type T = {x:number})"),
            R"(Error: syntax error, unexpected {, expecting identifier or [ in file test.dl at line 4
.type T = {x:number}
----------^----------
A record type is written [x:number, y:symbol]
)");
}

TEST(mistakes_in_declarations, branches_with_a_comma) {
  EXPECT_EQ(report_on_mistake(R"(.type T = A {}, B {})"),
            R"(Error: syntax error, unexpected "," in file test.dl at line 4
.type T = A {}, B {}
--------------^------
Branches are separated by |
)");
}

TEST(mistakes_in_declarations, functor_without_result) {
  EXPECT_EQ(report_on_mistake(R"(.functor f(x:number))"),
            R"(Error: syntax error, unexpected end of file, expecting : in file test.dl at line 4
.functor f(x:number)
--------------------^
A functor has the type of its result: .functor f(x:number):number
)");
}

}  // namespace
}  // namespace gpulog::syntax
