#include "syntax/parser.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "parsing.hpp"
#include "support/deep_stack.hpp"

namespace gpulog::syntax {
namespace {

/// The value in `a(value).` as printed.
std::string value(const std::string& text) {
  const std::string result = printed("a(" + text + ").");
  return result.substr(2, result.size() - 5);
}

/// The body in `a() :- body.` as printed.
std::string body(const std::string& text) {
  const std::string result = printed("a() :- " + text + ".");
  return result.substr(7, result.size() - 9);
}

const argument& only_argument(const parsed_text& parsed) {
  return parsed.result.items.at(0).as<clause>()->heads.at(0).arguments.at(0);
}

TEST(parsed_arguments, constants) {
  EXPECT_EQ(value("17"), "17");
  EXPECT_EQ(value("0x1F"), "0x1F");
  EXPECT_EQ(value("0b101"), "0b101");
  EXPECT_EQ(value("5u"), "5u");
  EXPECT_EQ(value("0xffu"), "0xffu");
  EXPECT_EQ(value("1.50"), "1.50");
  EXPECT_EQ(value("255.0.0.1"), "-16777215");
  EXPECT_EQ(value("10.0.0.1"), "167772161");
  EXPECT_EQ(value("nil"), "nil");
  EXPECT_EQ(value("_"), "_");
  EXPECT_EQ(value("_x"), "_x");
  EXPECT_EQ(value("?x"), "?x");
  EXPECT_EQ(value("autoinc()"), "autoinc()");
  EXPECT_EQ(value("recursive_iteration_cnt()"), "recursive_iteration_cnt()");
  EXPECT_EQ(value("-5"), "-5");
  EXPECT_EQ(value("- -5"), "--5");
  EXPECT_EQ(value("-(-5)"), "--5");
  EXPECT_EQ(value("-x"), "-x");
}

TEST(parsed_arguments, numeric_forms) {
  const auto form_of = [](const std::string& text) {
    const parsed_text parsed("a(" + text + ").");
    return only_argument(parsed).as<numeric_constant>()->form;
  };
  EXPECT_EQ(form_of("5"), numeric_form::untyped);
  EXPECT_EQ(form_of("-5"), numeric_form::untyped);
  EXPECT_EQ(form_of("5u"), numeric_form::unsigned_number);
  EXPECT_EQ(form_of("5.0"), numeric_form::floating);
}

TEST(parsed_arguments, strings_with_escapes) {
  const parsed_text parsed(R"dl(a("q\"b\\\n\t\a\b\f\r\v\'é").)dl");
  EXPECT_EQ(parsed.remarks(), "");
  EXPECT_EQ(only_argument(parsed).as<string_constant>()->value, "q\"b\\\n\t\a\b\f\r\v'é");
  EXPECT_EQ(value(R"("a\"b\nc")"), R"("a\"b\nc")");
  EXPECT_EQ(value("\"two\nlines\""), "\"two\\nlines\"");
}

TEST(parsed_arguments, precedences) {
  // Printing leaves out parentheses that change nothing.
  EXPECT_EQ(value("(1+2)*3"), "(1 + 2) * 3");
  EXPECT_EQ(value("1+(2*3)"), "1 + 2 * 3");
  EXPECT_EQ(value("(1-2)-3"), "1 - 2 - 3");
  EXPECT_EQ(value("1-(2-3)"), "1 - (2 - 3)");
  EXPECT_EQ(value("2^(3^2)"), "2 ^ 3 ^ 2");
  EXPECT_EQ(value("(2^3)^2"), "(2 ^ 3) ^ 2");
  EXPECT_EQ(value("-(x^2)"), "-x ^ 2");
  EXPECT_EQ(value("(-x)^2"), "(-x) ^ 2");
  EXPECT_EQ(value("(-2)^2"), "(-2) ^ 2");
  EXPECT_EQ(value("(-x)*y"), "-x * y");
  EXPECT_EQ(value("-(x*y)"), "-(x * y)");
  EXPECT_EQ(value("a lor (b lxor (c land (d bor (e bxor (f band (g bshl (h + (i * j))))))))"),
            "a lor b lxor c land d bor e bxor f band g bshl h + i * j");
  EXPECT_EQ(value("((((((((a * b) + c) bshr d) band e) bxor f) bor g) land h) lxor i) lor j"),
            "a * b + c bshr d band e bxor f bor g land h lxor i lor j");
  EXPECT_EQ(value("bnot (x + 1) bshru 2"), "bnot (x + 1) bshru 2");
  EXPECT_EQ(value("lnot bnot x"), "lnot bnot x");
  EXPECT_EQ(value("x % 2 / 3"), "x % 2 / 3");
  EXPECT_EQ(value("2 ^ (-x)"), "2 ^ -x");
  EXPECT_EQ(value("2 ^ ((-x) ^ 3)"), "2 ^ (-x) ^ 3");
  EXPECT_EQ(value("(2 ^ (-x)) ^ 3"), "(2 ^ -x) ^ 3");
  EXPECT_EQ(value("a * (-b) * (-5)"), "a * -b * -5");
  EXPECT_EQ(value("a * (-(b * c))"), "a * -(b * c)");
}

TEST(parsed_arguments, minus_two_squared_is_minus_four) {
  const parsed_text parsed("a(-2^2).");
  const auto* outer = only_argument(parsed).as<functor_call>();
  ASSERT_NE(outer, nullptr);
  EXPECT_EQ(outer->op, functor::negate);
  EXPECT_EQ(outer->arguments.at(0).as<functor_call>()->op, functor::power);
}

TEST(parsed_arguments, calls) {
  EXPECT_EQ(value("cat(x, \"y\", z)"), "cat(x, \"y\", z)");
  EXPECT_EQ(value("min(1, 2, 3)"), "min(1, 2, 3)");
  EXPECT_EQ(value("max(x + 1, 2) * 2"), "max(x + 1, 2) * 2");
  EXPECT_EQ(value("@f(x, @g())"), "@f(x, @g())");
  EXPECT_EQ(value("as(x + 1, my.Type)"), "as(x + 1, my.Type)");
  EXPECT_EQ(value("[1, [2, nil]]"), "[1, [2, nil]]");
  EXPECT_EQ(value("[]"), "[]");
  EXPECT_EQ(value("$B(1, $Enum())"), "$B(1, $Enum())");
  EXPECT_EQ(value("$Enum"), "$Enum()");
  EXPECT_EQ(value("$a.B(x)"), "$a.B(x)");
  EXPECT_EQ(value("to_number(substr(s, 0, strlen(s) - 1))"), "to_number(substr(s, 0, strlen(s) - 1))");
  EXPECT_EQ(value("range(1, 5)"), "range(1, 5)");
  EXPECT_EQ(value("split(split, \",\", trim + 1)"), "split(split, \",\", trim + 1)") << "also names of variables";
}

TEST(parsed_arguments, functors_without_keywords) {
  for (const std::string& name : functor_names()) {
    const std::string called = name + "(x, y)";
    EXPECT_EQ(value(called), called);
    if (!extension_named(name)) continue;
    EXPECT_EQ(value(name), name);
    const program parsed =
        parsed_text("a(x) :- " + called + ", " + called + " - 1 > 2, (" + called + " + 1) != 2.\n").result;
    const conjunction& body = parsed.items.at(0).as<clause>()->body.at(0);
    EXPECT_NE(body.at(0).as<atom>(), nullptr) << name;
    EXPECT_NE(body.at(1).as<constraint>(), nullptr) << name;
    EXPECT_NE(body.at(2).as<constraint>(), nullptr) << name;
    EXPECT_EQ(parsed.may_have_text_tests, name == "starts_with" || name == "ends_with");
  }
}

TEST(parsed_arguments, enum_before_the_end_of_a_clause) {
  EXPECT_EQ(printed("a() :- x = $E. .decl b()"), "a() :- x = $E().\n.decl b()\n");
  EXPECT_EQ(printed("a() :- x = $E."), "a() :- x = $E().\n");
  // A name goes on behind a dot, a clause ends with a blank behind it.
  EXPECT_EQ(printed("a() :- x = $e.E(1)."), "a() :- x = $e.E(1).\n");
  EXPECT_EQ(printed("a() :- x = $e.E."), "a() :- x = $e.E().\n");
  EXPECT_EQ(printed("a() :- x = $E. b(1)."), "a() :- x = $E().\nb(1).\n");
}

TEST(parsed_arguments, aggregates) {
  EXPECT_EQ(body("x = count : { b(y), y > 1 }"), "x = count : { b(y), y > 1 }");
  EXPECT_EQ(body("x = count : b(_)"), "x = count : { b(_) }");
  EXPECT_EQ(body("x = sum y + 1 : b(y) + 2"), "x = sum y + 1 : { b(y) } + 2");
  EXPECT_EQ(body("x = min y : b(y)"), "x = min y : { b(y) }");
  EXPECT_EQ(body("x = min (y + 1) * 2 : { b(y) }"), "x = min (y + 1) * 2 : { b(y) }");
  EXPECT_EQ(body("x = max(y) : { b(y) }"), "x = max y : { b(y) }");
  EXPECT_EQ(body("x = mean y : { b(y); c(y), d(y) }"), "x = mean y : { b(y); c(y), d(y) }");
  EXPECT_EQ(body("1 < sum x : { b(x), 2 = count : c(x) }"), "1 < sum x : { b(x), 2 = count : { c(x) } }");
  EXPECT_EQ(body("x = @@lub y : 0, { b(y) }"), "x = @@lub y : 0, { b(y) }");
  EXPECT_EQ(remarks_on("a() :- x = sum : b(_)."), "1:incorrect expression arity for given aggregate mode\n");
  EXPECT_EQ(remarks_on("a() :- x = sum(1, 2)."), "1:aggregate operation has no functor equivalent\n");
}

TEST(parsed_bodies, literals) {
  EXPECT_EQ(body("b(x), !c(x), x = 1, x != 2, x < 3, x <= 4, x > 5, x >= 6"),
            "b(x), !c(x), x = 1, x != 2, x < 3, x <= 4, x > 5, x >= 6");
  EXPECT_EQ(body("match(\"a.*\", x), contains(\"b\", x), !match(y, x)"),
            "match(\"a.*\", x), contains(\"b\", x), !match(y, x)");
  EXPECT_EQ(body("true, false, !true"), "true, false, !true");
  EXPECT_EQ(body("a.b.c(x)"), "a.b.c(x)");
  EXPECT_EQ(body("b(x); c(x), d(x)"), "b(x); c(x), d(x)");
  EXPECT_EQ(body("b(x), (c(x); d(x), (e(x); !(f(x), g(x))))"), "b(x), (c(x); d(x), (e(x); !(f(x), g(x))))");
  EXPECT_EQ(body("!x < y"), "!x < y");
  EXPECT_EQ(body("!!b(x)"), "!!b(x)");
}

TEST(parsed_bodies, parentheses_of_arguments_and_of_groups) {
  EXPECT_EQ(body("(x + 1) * 2 > y"), "(x + 1) * 2 > y");
  EXPECT_EQ(body("(x) > y"), "x > y");
  EXPECT_EQ(body("((x) > y)"), "(x > y)");
  EXPECT_EQ(body("(((x + 1)) > (y))"), "(x + 1 > y)");
  EXPECT_EQ(body("(b(x))"), "(b(x))");
  EXPECT_EQ(body("((b(x)), (x) = 1; (c(x)))"), "((b(x)), x = 1; (c(x)))");
  EXPECT_EQ(remarks_on("a() :- (x)."), "1:syntax error, unexpected .\n");
  EXPECT_EQ(remarks_on("a() :- (x, b(x))."), "1:syntax error, unexpected \",\"\n");
  EXPECT_EQ(remarks_on("a() :- (b(x)) + 1 > 2."), "1:syntax error, unexpected +, expecting \",\" or ; or .\n");
}

TEST(parsed_clauses, forms) {
  EXPECT_EQ(printed("a(1)."), "a(1).\n");
  EXPECT_EQ(printed("a().b()."), "a().\nb().\n");
  EXPECT_EQ(printed("a(x), b.c(x) :- d(x)."), "a(x), b.c(x) :- d(x).\n");
  EXPECT_EQ(printed("a(x) <= a(y) :- x < y."), "a(x) <= a(y) :- x < y.\n");
  EXPECT_EQ(printed("a(x) :- b(x), c(x). .plan 0:(2,1), 1:()"), "a(x) :- b(x), c(x).\n.plan 0:(2, 1), 1:()\n");
  EXPECT_EQ(remarks_on("a(1), b(2)."), "1:syntax error, unexpected ., expecting :- or \",\"\n");
  EXPECT_EQ(remarks_on("a(x) <= a(y)."), "1:syntax error, unexpected ., expecting :-\n");
}

TEST(parsed_clauses, spans_cover_their_text) {
  const parsed_text parsed("  a(x) :-\n  b(x), x = 1 + 2.\n");
  const clause& rule = *parsed.result.items.at(0).as<clause>();
  EXPECT_EQ(to_string(rule.span), "test.dl [1:3-2:19]");
  EXPECT_EQ(to_string(rule.heads.at(0).span), "test.dl [1:3-1:7]");
  const literal& test = rule.body.at(0).at(1);
  EXPECT_EQ(to_string(test.span), "test.dl [2:9-2:18]");
  EXPECT_EQ(to_string(test.as<constraint>()->right.span), "test.dl [2:13-2:18]");
}

TEST(parsed_declarations, relations) {
  EXPECT_EQ(printed(".decl a(x:number, y : my.T)"), ".decl a(x: number, y: my.T)\n");
  EXPECT_EQ(printed(".decl a, b()"), ".decl a, b()\n");
  EXPECT_EQ(printed(".decl a(x:L<>) overridable inline no_inline magic no_magic btree_delete"),
            ".decl a(x: L<>) overridable inline no_inline magic no_magic btree_delete\n");
  EXPECT_EQ(printed(".decl a(x:number, y:number) eqrel"), ".decl a(x: number, y: number) eqrel\n");
  EXPECT_EQ(printed(".decl a(x:number, y:number) choice-domain x, (x, y)"),
            ".decl a(x: number, y: number) choice-domain (x), (x, y)\n");
  EXPECT_EQ(printed(".decl d = debug_delta(a)"), ".decl d = debug_delta(a)\n");
  EXPECT_EQ(remarks_on(".decl a() brie btree"), "1:btree/brie/eqrel/btree_delete qualifier already set\n");
  EXPECT_EQ(remarks_on(".decl a() btree_delete inline eqrel"),
            "1:btree/brie/eqrel/btree_delete qualifier already set\n");
  EXPECT_EQ(remarks_on(".decl a() inline inline"), "1:inline qualifier already set\n");
}

TEST(parsed_declarations, types) {
  EXPECT_EQ(printed(".type A <: symbol"), ".type A <: symbol\n");
  EXPECT_EQ(printed(".type A = b.C"), ".type A = b.C\n");
  EXPECT_EQ(printed(".type A = B | c.D"), ".type A = B | c.D\n");
  EXPECT_EQ(printed(".type A = [x : number, rest : A]"), ".type A = [x: number, rest: A]\n");
  EXPECT_EQ(printed(".type A = []"), ".type A = []\n");
  EXPECT_EQ(printed(".type A = B { x : number, y : A } | E {}"), ".type A = B { x: number, y: A } | E {}\n");
  EXPECT_EQ(printed(".lattice L<> { Bottom -> $B(), Lub -> @lub(_, _) }"),
            ".lattice L<> { Bottom -> $B(), Lub -> @lub(_, _) }\n");
}

TEST(parsed_declarations, functors_directives_pragmas) {
  EXPECT_EQ(printed(".functor f(x:number, symbol):float"), ".functor f(x: number, symbol): float\n");
  EXPECT_EQ(printed(".functor f():a.T stateful"), ".functor f(): a.T stateful\n");
  EXPECT_EQ(printed(".input a, b.c(IO=file, filename=\"x\\ty\", delimiter=\",\", n=5, headers=true)"),
            ".input a, b.c(IO=\"file\", filename=\"x\\ty\", delimiter=\",\", n=\"5\", headers=\"true\")\n");
  EXPECT_EQ(printed(".output a()\n.printsize b .limitsize c(n=3)"), ".output a\n.printsize b\n.limitsize c(n=\"3\")\n");
  EXPECT_EQ(printed(".pragma \"a\" \"b\" .pragma \"c\""), ".pragma \"a\" \"b\"\n.pragma \"c\"\n");
}

TEST(parsed_declarations, components) {
  EXPECT_EQ(printed(".comp A<T, U> : B<T>, C { .decl a(x:T) overridable a(x) :- b(x). .comp I { } .init i = I "
                    ".override z .type Q <: T .input a }\n.init x = A<number, symbol>"),
            ".comp A<T, U> : B<T>, C {\n.decl a(x: T) overridable\na(x) :- b(x).\n.comp I {\n}\n.init i = I\n"
            ".override z\n.type Q <: T\n.input a\n}\n.init x = A<number, symbol>\n");
  EXPECT_EQ(remarks_on(".override x"), "1:syntax error, unexpected override rules of super-component\n");
  EXPECT_EQ(remarks_on(".comp A {\n.pragma \"x\"\n.decl a()\n}\nb(1)."),
            "2:syntax error, unexpected pragma directive\n");
}

TEST(ignored_text, comments_and_annotations) {
  EXPECT_EQ(printed("// one\n/* two\n /* three */ a(1). /// doc\n//! inner\nb(2)."), "a(1).\nb(2).\n");
  EXPECT_EQ(printed("@[doc = \"x\"] @[f(a, [b {c} :- ,])] .decl a(@[k] x:number)\n@[n] a(x) :- @![m = 1 + 2] b(x)."),
            ".decl a(x: number)\na(x) :- b(x).\n");
  EXPECT_EQ(printed(".type T = @[x] A { @![y] } | @[z] B {}"), ".type T = A {} | B {}\n");
  EXPECT_EQ(printed("\xEF\xBB\xBF"
                    "a(1)."),
            "a(1).\n");
  EXPECT_EQ(printed("a(1).\r\nb(2).\r\n"), "a(1).\nb(2).\n");
  EXPECT_EQ(printed(""), "");
}

TEST(unattached_annotations, doc_comments_and_annotations) {
  EXPECT_EQ(remarks_on("/// of a\n@[x] a(1).\n/// one\n  /// comment\n\n@[y]\n/// three\n"),
            "3:doc comment found at end of file, not attached to anything\n"
            "6:annotation found at end of file, not attached to anything\n"
            "7:doc comment found at end of file, not attached to anything\n");
  EXPECT_EQ(remarks_on(".comp C {\n  /// of b\n  b(1).  /// last\n}\n.comp D {\n@[x]\n}\n"),
            "3:doc comment found at end of the component, not attached to anything\n"
            "6:annotation found at end of the component, not attached to anything\n");
  EXPECT_EQ(remarks_on("@[x {\n/// inside\n}]\na(1)."), "");
  EXPECT_EQ(remarks_on(".decl a(\n/// one\nx:number,\n/// two\ny:number)\n/// of the fact\n///////////\na(1,2)."), "");
  EXPECT_EQ(remarks_on("//// four\n"), "1:doc comment found at end of file, not attached to anything\n");
  EXPECT_EQ(remarks_on("///"), "1:doc comment found at end of file, not attached to anything\n");
  EXPECT_EQ(remarks_on("// none\n/* /// */\n//! inner\n// /// none"), "");
  parse_options quiet;
  quiet.warnings = false;
  EXPECT_EQ(remarks_on("/// doc", quiet), "");
}

TEST(deprecated_forms, forms_are_read_with_a_warning) {
  const parsed_text parsed(".number_type N\n.symbol_type S\n.type T\n.decl a(x:N) input output\na($).\n.decl b(x:N)");
  EXPECT_EQ(parsed.remarks(),
            "1:Deprecated type declaration used\n2:Deprecated type declaration used\n"
            "3:Deprecated type declaration used\n4:Deprecated input qualifier was used\n"
            "4:Deprecated output qualifier was used\n"
            "5:Deprecated $ symbol was used. Use functor 'autoinc()' instead.\n");
  EXPECT_FALSE(parsed.report.has_errors());
  EXPECT_EQ(print(parsed.result),
            ".type N <: number\n.type S <: symbol\n.type T <: symbol\n.decl a(x: N) input output\na(autoinc()).\n"
            ".decl b(x: N)\n");
  parse_options quiet;
  quiet.warnings = false;
  EXPECT_EQ(remarks_on(".number_type N", quiet), "");
}

TEST(syntax_errors, several_in_one_run) {
  EXPECT_EQ(remarks_on("a(1,,2).\nb(1).\n.decl c(x number)\n.decl d(x:number)\nd(2)).\ne(x) :- f(x) g(x).\nh(~1).\n"),
            "1:syntax error, unexpected \",\"\n"
            "3:syntax error, unexpected identifier, expecting :\n"
            "5:syntax error, unexpected ), expecting :- or \",\" or . or <=\n"
            "6:syntax error, unexpected identifier, expecting \",\" or ; or .\n"
            "7:unexpected ~\n");
}

TEST(syntax_errors, what_is_readable_is_read) {
  const parsed_text parsed("a(1).\nb(.\nc(3).\n.comp D { d(4) e(5).\n f(6). }\ng(7).\n");
  EXPECT_EQ(parsed.report.error_count(), 2U);
  EXPECT_EQ(print(parsed.result), "a(1).\nc(3).\n.comp D {\nf(6).\n}\ng(7).\n");
}

TEST(syntax_errors, unknown_directives_end_with_their_line) {
  const parsed_text parsed("a(x) :- b(x).\n.strict\nc(x) :- d(x), e(x).\n.plan 1:(1,2), 2:(2,1)\nf(1).\n");
  EXPECT_EQ(parsed.remarks(), "2:syntax error, unexpected .\n");
  EXPECT_EQ(print(parsed.result), "a(x) :- b(x).\nc(x) :- d(x), e(x).\n.plan 1:(1, 2), 2:(2, 1)\nf(1).\n");
  EXPECT_EQ(remarks_on(".bad a(x:number,\n y:number) z\na(1)."), "1:syntax error, unexpected .\n");
  const parsed_text component(".comp C {\n.bad b }\nc(1).");
  EXPECT_EQ(component.remarks(), "2:syntax error, unexpected .\n");
  EXPECT_EQ(print(component.result), ".comp C {\n}\nc(1).\n");
}

TEST(syntax_errors, plans_go_with_their_rules) {
  const parsed_text parsed("a(x) :- b(x) c(x).\n.plan 1:(1,2), 2:()\na(1).\n");
  EXPECT_EQ(parsed.remarks(), "1:syntax error, unexpected identifier, expecting \",\" or ; or .\n");
  EXPECT_EQ(print(parsed.result), "a(1).\n");
}

TEST(syntax_errors, braces_of_aggregates_do_not_close_components) {
  const parsed_text parsed(".comp C {\n a(x) :- x = count : { b( }, c(x).\n d(1).\n}\ne(2).\n");
  EXPECT_EQ(parsed.remarks(), "2:syntax error, unexpected }\n");
  EXPECT_EQ(print(parsed.result), ".comp C {\nd(1).\n}\ne(2).\n");
}

TEST(syntax_errors, lexical_ones) {
  EXPECT_EQ(remarks_on("a(\"x\\qy\")."), "1:Unknown escape sequence \\q\n");
  EXPECT_EQ(remarks_on("a(1).\na(\"open).\n"), "2:unexpected \"\n");
  EXPECT_EQ(remarks_on("a(1).\n/* open\n\n"), "2:unterminated comment block, missing '*/'\n");
  EXPECT_EQ(remarks_on("a(1.2.3.400)."), "1:IP out of range\n");
  EXPECT_EQ(remarks_on(std::string("a(\0).", 5)).substr(0, 2), "1:");
  EXPECT_EQ(remarks_on("a(99999999999999999999.1.1.1)."), "1:IP out of range\n");
  EXPECT_EQ(remarks_on("a() :- b(). .plan 99999999999:(1)"), "1:malformed number in an execution plan\n");
}

TEST(syntax_errors, missing_closing_brace) {
  EXPECT_EQ(remarks_on("a(1).\n.comp C {\n b(1).\n"),
            "2:unterminated component, missing '}'\n3:syntax error, unexpected end of input\n");
  EXPECT_EQ(remarks_on(".comp C {\n.comp D\n{ //\n b(1).\n"),
            "3:unterminated component, missing '}'\n4:syntax error, unexpected end of input\n");
  EXPECT_EQ(remarks_on(".comp C {\n"),
            "1:unterminated component, missing '}'\n1:syntax error, unexpected end of input\n");
}

TEST(syntax_errors, are_limited_in_number) {
  std::string text;
  for (int line = 0; line < 10'000; ++line) text += "a(,).\n";
  EXPECT_EQ(parsed_text(text).report.error_count(), 100U);
}

std::string repeated(const std::string& text, int times) {
  std::string result;
  for (int count = 0; count < times; ++count) result += text;
  return result;
}

TEST(nesting_depth, is_limited_with_a_message) {
  const int many = 20'000;
  const std::string message = "1:expression is nested too deeply: the limit is 1000 levels\n";
  const auto first_remark = [](const std::string& text) {
    const std::string all = remarks_on(text);
    return all.substr(0, all.find('\n') + 1);
  };
  EXPECT_EQ(first_remark("a(" + repeated("(", many) + "1" + repeated(")", many) + ")."), message);
  EXPECT_EQ(first_remark("a(" + repeated("[", many) + "1" + repeated("]", many) + ")."), message);
  EXPECT_EQ(first_remark("a(" + repeated("-", many) + "x)."), message);
  EXPECT_EQ(first_remark("a(" + repeated("1 + ", many) + "x)."), message);
  EXPECT_EQ(first_remark("a(" + repeated("x ^ ", many) + "x)."), message);
  EXPECT_EQ(first_remark("a(" + repeated("cat(", many) + "x)."), message);
  EXPECT_EQ(first_remark("a(" + repeated("as(", many) + "x)."), message);
  EXPECT_EQ(first_remark("a(" + repeated("min(", many) + "x)."), message);
  EXPECT_EQ(first_remark("a(" + repeated("$B(", many) + "x)."), message);
  EXPECT_EQ(first_remark("a() :- " + repeated("(", many) + "b()" + repeated(")", many) + "."), message);
  EXPECT_EQ(first_remark("a() :- " + repeated("!", many) + "b()."), message);
  EXPECT_EQ(first_remark("a() :- " + repeated("x = sum 1 : { ", many) + "."), message);
  EXPECT_EQ(first_remark("a() :- " + repeated("(x) = sum 1 : { ((", many) + "."), message);
  EXPECT_EQ(first_remark(repeated(".comp C { ", many)), "1:components are nested too deeply: the limit is 100\n");
}

TEST(parse_options, without_items) {
  parse_options options;
  options.keeps_items = false;
  const parsed_text parsed(".decl a(x:number)\na(1). a(2).\n.comp C {\n.decl b(x:number)\nb(1). b(2).\n}\na(3).\n",
                           options);
  EXPECT_EQ(parsed.remarks(), "");
  ASSERT_LE(parsed.result.items.size(), 2U);
  EXPECT_EQ(print(parsed.result).substr(print(parsed.result).size() - 6), "a(3).\n");
}

TEST(nesting_depth, of_trees_on_a_deep_stack) {
#if defined(GPULOG_SANITIZED)
  const int many = 20'000;
#else
  const int many = 150'000;
#endif
  parse_options options;
  options.deepest = deepest_nesting;
  // Destroyed on the usual stack.
  std::optional<parsed_text> parsed;
  std::string again;
  const std::string text = "a(" + repeated("1 + ", many) + "x, " + repeated("[", many) + "y" + repeated("]", many) +
                           ", " + repeated("-", many) + "z).\n";
  ASSERT_TRUE(on_deep_stack([&] {
    parsed.emplace(text, options);
    again = print(parsed->result);
  }));
  EXPECT_EQ(parsed->remarks(), "");
  EXPECT_FALSE(parsed->result.needs_deep_stack);
  EXPECT_EQ(again, text);
  parsed.reset();
  EXPECT_TRUE(parsed_text(text).result.needs_deep_stack);
  ASSERT_TRUE(on_deep_stack([&] {
    EXPECT_EQ(remarks_on("a(" + repeated("as(", many) + "x).", options),
              "1:expression is nested too deeply: the limit is 1000 levels\n");
  }));
}

TEST(nesting_depth, nested_chains_count_together) {
  // Each level is within the limits, the tree as a whole is not.
  std::string text = "x";
  for (int level = 0; level < 30; ++level) text = "(" + text + repeated(" + 1", 50) + ")";
  EXPECT_EQ(remarks_on("a(" + text + ")."), "1:expression is nested too deeply: the limit is 1000 levels\n");
}

TEST(nesting_depth, long_flat_programs_are_fine) {
  EXPECT_EQ(remarks_on("a() :- " + repeated("b(), ", 20'000) + "c()."), "");
  EXPECT_EQ(remarks_on("a() :- " + repeated("b(); ", 20'000) + "c()."), "");
  EXPECT_EQ(remarks_on("a(" + repeated("1, ", 20'000) + "1)."), "");
  EXPECT_EQ(remarks_on("a(" + repeated("1 + ", 900) + "1)."), "");
  EXPECT_EQ(remarks_on(repeated("a(1).", 20'000)), "");
  EXPECT_EQ(remarks_on("a(" + repeated("[1, ", 900) + "nil" + repeated("]", 900) + ")."), "");
}

}  // namespace
}  // namespace gpulog::syntax
