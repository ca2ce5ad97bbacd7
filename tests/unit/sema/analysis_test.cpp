#include "sema/analysis.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "analysed_text.hpp"
#include "sema/print.hpp"

namespace gpulog::sema {
namespace {

using lines = std::set<std::uint32_t>;

std::string report_of(const std::string& text) { return analysed_text(text).report.to_string(); }

const constraint& constraint_at(const rule& rule, std::size_t position) {
  return std::get<constraint>(rule.body.at(position));
}

// ---- declarations ---------------------------------------------------------------------------------------------------

TEST(declarations, kinds_follow_subtypes_aliases_and_unions_in_any_order) {
  const analysed_text text(
      ".decl r(a:Small, b:Alias, c:Any, d:float)\n"
      ".type Any = Left | Right\n.type Left <: symbol\n.type Right <: symbol\n"
      ".type Alias = Small\n.type Small <: unsigned\n");
  ASSERT_TRUE(text.accepted()) << text.report.to_string();
  const auto& columns = text.program->relations.at(0).attributes;
  EXPECT_EQ(columns[0].kind, value_kind::unsigned_number);
  EXPECT_EQ(columns[1].kind, value_kind::unsigned_number);
  EXPECT_EQ(columns[2].kind, value_kind::symbol);
  EXPECT_EQ(columns[3].kind, value_kind::floating);
  EXPECT_EQ(columns[1].type_name, "Alias");
}

TEST(declarations, all_errors_of_one_run_are_reported) {
  const analysed_text text(
      ".decl a(x:number, x:symbol)\n"  // 1
      ".decl a(y:number)\n"            // 2
      ".decl b(x:Mystery)\n"           // 3
      ".type number <: symbol\n"       // 4
      ".type T <: symbol\n"            // 5
      ".type T <: number\n"            // 6
      ".type U = T | number\n"         // 7
      ".output nobody\n");             // 8
  EXPECT_FALSE(text.accepted());
  EXPECT_EQ(text.error_lines(), (lines{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(declarations, cyclic_types_are_errors) {
  EXPECT_EQ(analysed_text(".type A <: B\n.type B <: A\n.decl r(x:A)\n").error_lines(), (lines{1, 2}));
  EXPECT_EQ(analysed_text(".type A = A | B\n.type B <: number\n").error_lines(), (lines{1}));
  EXPECT_EQ(analysed_text(".type A = A\n").error_lines(), (lines{1}));
}

TEST(declarations, a_chain_of_types_of_any_length_is_no_crash) {
  std::string text;
  for (int number = 0; number < 50000; ++number) {
    text += ".type T" + std::to_string(number) + " <: T" + std::to_string(number + 1) + "\n";
  }
  EXPECT_FALSE(analysed_text(text + ".type T50000 <: number\n").accepted());
}

TEST(declarations, directives_belong_to_each_relation_of_their_list) {
  const analysed_text text(".decl a, b(x:number)\n.output a, b(IO=file, filename=\"f.txt\")\n.input b\n");
  ASSERT_TRUE(text.accepted()) << text.report.to_string();
  for (const relation& relation : text.program->relations) {
    ASSERT_FALSE(relation.directives.empty());
    EXPECT_EQ(relation.directives[0].kind, directive_kind::output);
    EXPECT_EQ(relation.directives[0].parameters.at("filename"), "f.txt");
  }
  EXPECT_TRUE(text.program->relations[1].has_directive(directive_kind::input));
}

TEST(declarations, unknown_names_are_answered_with_a_suggestion) {
  EXPECT_TRUE(mentions(report_of(".decl path(x:number)\npath(1) :- paht(1).\n"), "did you mean 'path'"));
  EXPECT_TRUE(mentions(report_of(".type Vertex <: number\n.decl path(x:Vertx)\n"), "did you mean 'Vertex'"));
}

// ---- types ----------------------------------------------------------------------------------------------------------

TEST(inference, untyped_literals_take_the_type_of_their_context) {
  const analysed_text text(".decl r(n:number, u:unsigned, f:float)\nr(-1, 4294967295, 3).\nr(0x10, 0b11, 1.5).\n");
  ASSERT_TRUE(text.accepted()) << text.report.to_string();
  ASSERT_EQ(text.program->facts.size(), 2u);
  EXPECT_EQ(text.program->facts[0].values,
            (std::vector<wide_word>{0xFFFFFFFFu, 4294967295u, std::bit_cast<word>(3.0F)}));
  EXPECT_EQ(text.program->facts[1].values, (std::vector<wide_word>{16, 3, std::bit_cast<word>(1.5F)}));
}

TEST(inference, comparisons_and_functors_are_chosen_by_type) {
  const analysed_text text(
      ".decl u(x:unsigned)\n.decl f(x:float)\n.decl s(x:symbol)\n.decl r(u:unsigned, f:float, s:symbol)\n"
      "r(a/2, b*2, c+\"x\") :- u(a), f(b), s(c), a < 3, b = 1, c >= \"k\".\n");
  ASSERT_TRUE(text.accepted()) << text.report.to_string();
  const rule& rule = text.program->rules.at(0);
  EXPECT_EQ(rule.head.arguments[0].op, scalar_op::divide_unsigned);
  EXPECT_EQ(rule.head.arguments[1].op, scalar_op::multiply_float);
  EXPECT_EQ(rule.head.arguments[1].arguments[1].constant, std::bit_cast<word>(2.0F));
  EXPECT_EQ(rule.head.arguments[2].op, scalar_op::concatenate);
  EXPECT_EQ(constraint_at(rule, 3).op, comparison_op::less_unsigned);
  EXPECT_EQ(constraint_at(rule, 4).op, comparison_op::equal_float);
  EXPECT_EQ(constraint_at(rule, 5).op, comparison_op::greater_equal_symbol);
}

TEST(inference, types_flow_through_equalities) {
  const analysed_text text(".decl u(x:unsigned)\n.decl r(x:unsigned)\nr(z) :- u(x), y = x + 1, z = y bshr 1.\n");
  ASSERT_TRUE(text.accepted()) << text.report.to_string();
  for (const variable& variable : text.program->rules.at(0).variables) {
    EXPECT_EQ(variable.kind, value_kind::unsigned_number) << variable.name;
  }
  EXPECT_EQ(constraint_at(text.program->rules[0], 2).right.op, scalar_op::shift_right_unsigned);
}

TEST(inference, conversions_of_equal_words_leave_no_operation) {
  const analysed_text text(
      ".decl n(x:number, s:symbol)\n.decl r(a:unsigned, b:number, c:number)\n"
      "r(to_unsigned(x), ord(s), to_number(x)) :- n(x, s), as(x, unsigned) > 3.\n");
  ASSERT_TRUE(text.accepted()) << text.report.to_string();
  const rule& rule = text.program->rules.at(0);
  for (const expression& argument : rule.head.arguments) EXPECT_TRUE(argument.is_variable());
  EXPECT_EQ(rule.head.arguments[0].kind, value_kind::unsigned_number);
  EXPECT_EQ(constraint_at(rule, 1).op, comparison_op::greater_unsigned);
}

TEST(inference, functors_of_many_arguments_are_nested) {
  const analysed_text text(
      ".decl n(x:number, s:symbol)\n.decl r(a:number, b:symbol)\n"
      "r(max(x, 1, 2), substr(s, 1, x)) :- n(x, s).\n");
  ASSERT_TRUE(text.accepted()) << text.report.to_string();
  EXPECT_EQ(to_text(*text.program, text.program->rules[0]), "r(max(max(x,1),2),substr(s,1,x)) :- n(x,s).");
}

TEST(inference, concatenations_are_one_operation) {
  const analysed_text text(
      ".decl n(x:number, s:symbol)\n.decl r(a:symbol, b:symbol, c:symbol)\n"
      "r(s + \"a\" + s + \"b\", cat(cat(s, s), s, cat(s, \"a\")), format(\"<{} {}>\", s, x)) :- n(x, s).\n");
  ASSERT_TRUE(text.accepted()) << text.report.to_string();
  EXPECT_EQ(to_text(*text.program, text.program->rules[0]),
            "r(cat(s,\"a\",s,\"b\"),cat(s,s,s,cat(s,\"a\")),cat(\"<\",s,\" \",to_string(x),\">\")) :- n(x,s).");
}

TEST(aggregates, are_literals_with_variables_of_their_own) {
  const analysed_text text(
      ".decl e(x:number, y:number)\n.decl r(x:number, n:number)\n"
      "r(x, y) :- e(x, _), y = sum y : e(x, y).\nr(x, m) :- m = min y : e(x, y).\n");
  ASSERT_TRUE(text.accepted()) << text.report.to_string();
  EXPECT_EQ(to_text(*text.program, text.program->rules[0]), "r(x,y) :- e(x,_), @3 = sum y@1 : { e(x,y@1) }, y = @3.");
  // x is a witness: every x with the lowest y.
  EXPECT_EQ(text.program->rules[1].body.size(), 5U) << to_text(*text.program, text.program->rules[1]);
}

TEST(aggregates, have_no_witnesses_outside_of_another_one_that_they_depend_on) {
  for (const std::string body :
       {"r(p, c) :- c = count : { e(x, _), m = min y : e(p, y), x > m }.",
        "r(p, c) :- c = count : { e(x, _), x > min y + p : e(p, y) }.",
        "r(p, c) :- c = sum x : { e(x, z), z = max w : { e(v, _), w = max y : e(p, y) + v } }."}) {
    const analysed_text text(".decl e(x:number, y:number)\n.decl r(x:number, n:number)\n" + body + "\n");
    EXPECT_TRUE(text.accepted()) << text.report.to_string();
  }
  for (const std::string body : {"r(p, c) :- c = count : { e(x, _), m = min y : { e(p, y), x < y } }.",
                                 "r(p, c) :- c = count : { e(x, p), m = min y : e(p, y), x < m }.",
                                 "r(p, c) :- c = count : { e(x, _), q < x, m = min y : { e(p, y), e(y, q) } }."}) {
    const analysed_text text(".decl e(x:number, y:number)\n.decl r(x:number, n:number)\n" + body + "\n");
    EXPECT_FALSE(text.accepted()) << body;
    EXPECT_TRUE(text.error_lines().contains(3)) << text.report.to_string();
  }
}

TEST(aggregates, cannot_depend_on_the_results_of_each_other) {
  for (const std::string body : {"r(n, m) :- n = sum x : e(x, m), m = count : e(_, n).",
                                 "r(x, n) :- n = count : e(x, _).", "r(n, n) :- n = sum z : { e(x, _), x > 0 }."}) {
    const analysed_text text(".decl e(x:number, y:number)\n.decl r(x:number, n:number)\n" + body + "\n");
    EXPECT_FALSE(text.accepted()) << body;
    EXPECT_TRUE(text.error_lines().contains(3)) << text.report.to_string();
  }
}

struct rejected {
  std::string body;  ///< stands on line 7
  std::string message;
};

class type_errors : public testing::TestWithParam<rejected> {};

TEST_P(type_errors, are_reported_with_their_line) {
  const analysed_text text(
      ".type Apple <: symbol\n.type Pear <: symbol\n"
      ".decl apple(x:Apple)\n.decl pear(x:Pear)\n.decl n(x:number)\n.decl f(x:float)\n" +
      GetParam().body + "\n");
  EXPECT_FALSE(text.accepted());
  const std::string report = text.report.to_string();
  EXPECT_TRUE(text.error_lines().contains(7)) << report;
  EXPECT_TRUE(mentions(report, GetParam().message)) << report;
}

INSTANTIATE_TEST_SUITE_P(all, type_errors,
                         testing::Values(rejected{"apple(x) :- pear(x).", "not a subtype of its declared type"},
                                         rejected{"n(x) :- n(x), apple(x).", "Unable to deduce type for variable x"},
                                         rejected{"n(x) :- apple(x), pear(x).", "Unable to deduce type for variable x"},
                                         rejected{"n(\"one\").", "Symbol constant (type mismatch)"},
                                         rejected{"n(x) :- n(x), x != \"one\".", "Symbol constant (type mismatch)"},
                                         rejected{"n(2.5).", "Float constant (type mismatch)"},
                                         rejected{"n(5u).", "Unsigned constant (type mismatch)"},
                                         rejected{"n(2147483648).", "Number constant out of range"},
                                         rejected{"n(99999999999999999999).", "Number constant out of range"},
                                         rejected{"f(x + y) :- n(x), f(y).", "No valid overloads for functor +"},
                                         rejected{"n(x) :- apple(y), x = y * 2.", "No valid overloads for functor *"},
                                         rejected{"n(x) :- n(x), f(y), x < y.", "Unable to deduce type for variable"},
                                         rejected{"n(x) :- n(x), !apple(x).", "Unable to deduce type for variable x"},
                                         rejected{"n(as(x, Widget)) :- n(x).", "undeclared type Widget"},
                                         rejected{"apple(as(x, Pear)) :- n(x).", "not a subtype of its declared type"},
                                         rejected{"n(x) :- n(x), match(x, \"a\").",
                                                  "Unable to deduce type for variable x"},
                                         rejected{"n(strlen(x)) :- n(x).", "No valid overloads for functor strlen"},
                                         rejected{"n(strlen(x, x)) :- n(x).", "Mismatching arity of functor strlen"}));

// ---- groundedness and form ------------------------------------------------------------------------------------------

class form_errors : public testing::TestWithParam<rejected> {};

TEST_P(form_errors, are_reported_with_their_line) {
  const analysed_text text(
      ".decl a(x:number)\n.decl b(x:number, y:number)\n.functor known(x:number):number\n"
      ".type R = number\n\n\n" +
      GetParam().body + "\n");
  EXPECT_FALSE(text.accepted());
  const std::string report = text.report.to_string();
  EXPECT_TRUE(text.error_lines().contains(7)) << report;
  EXPECT_TRUE(mentions(report, GetParam().message)) << report;
}

INSTANTIATE_TEST_SUITE_P(
    all, form_errors,
    testing::Values(rejected{"b(x,y) :- a(x).", "Ungrounded variable y"},
                    rejected{"a(x) :- a(x), x < limit.", "Ungrounded variable limit"},
                    rejected{"a(x) :- !a(x).", "Ungrounded variable x"},
                    rejected{"a(x) :- a(y), !b(y,x).", "Ungrounded variable x"},
                    rejected{"a(y) :- a(x), x = y + 1.", "Ungrounded variable y"},
                    rejected{"a(u) :- a(_), u = v + 1, v = u - 1.", "Ungrounded variable u"},
                    rejected{"a(x) :- a(x+1).", "Ungrounded variable x"},
                    rejected{"a(x) :- !(x != 1), a(y), y != x ; a(y).", "Ungrounded variable x"},
                    rejected{"a(x) :- a(_) ; a(x).", "Ungrounded variable x"},
                    rejected{"a(x) :- a(y), x > y.", "A comparison does not bind x"},
                    rejected{"a(x) :- !a(x).", "A negated atom does not bind x"},
                    rejected{"a(x) :- a(x+1).", "An expression in an atom does not bind x"},
                    rejected{"a(y) :- a(x), x = y + 1.", "An equality binds y only if one side is y alone"},
                    rejected{"a(x) :- a(y), x = x + y.", "An equality binds x only if"},
                    rejected{"a(x).", "Argument in fact is not constant"}, rejected{"a(_).", "Underscore in head"},
                    rejected{"a(_) :- a(1).", "Underscore in head"},
                    rejected{"a(x) :- a(x), x < _.", "Underscore in binary relation"},
                    rejected{"a(x) :- a(x), b(x, _+1).", "Underscore in argument of functor"},
                    rejected{"a(1,2).", "Mismatching arity of relation a"},
                    rejected{"a(x) :- b(x).", "Mismatching arity of relation b"},
                    rejected{"c(1).", "Undefined relation c"}, rejected{"a(x) :- a(x), !c(x).", "Undefined relation c"},
                    rejected{"a(@twice(x)) :- a(x).", "hasn't been declared: @twice"},
                    rejected{"a(x) :- a(x). .plan 0:(2)", "Invalid execution order"},
                    rejected{"b(1,2). a(x) :- b(x,_). .plan 0:(1)", "no version 0"},
                    rejected{"a(1). a(x) <= a(y) :- x < y. .plan 0:(1)", "each of the 2 positive atoms"},
                    rejected{"a(1). b(1,2). b(x,y) <= b(x,z) :- a(y), a(z). .plan 0:(1,2,4,3), 1:(1,2,3,5)",
                             "each of the 4 positive atoms"},
                    rejected{"a(1). a(x) <= a(y) :- x < y. .plan 2:(1,2)", "no version 2"},
                    rejected{"a(x) :- a(x), x = strlen(cat()).", "arity of functor cat"},
                    rejected{"a(x) :- a(x), x = index_of(\"a\").", "index_of (expected 2 to 3, got 1)"},
                    rejected{"a(x) :- a(x), \"a\" = format(\"{}\", x, x).", "expected 1, one for each {}, got 2"},
                    rejected{"a(x) :- a(x), \"a\" = format(\"{}}\", x).",
                             "A value is written {}, and a brace {{ or }}"},
                    rejected{"a(x) :- a(x), \"a\" = format(cat(\"a\"), x).", "must be a text in quotes"},
                    rejected{"a(x) :- a(x), \"a\" = split(\"a\", \"b\", y + 1).", "Ungrounded variable y"},
                    rejected{"a(y) :- a(x), \"a\" = split(z, \"b\", y).", "Ungrounded variable y"},
                    rejected{"a(x) :- a(x), trim(x).", "trim(...) is a value, not a literal"}));

class unsupported : public testing::TestWithParam<rejected> {};

TEST_P(unsupported, constructs_are_named) {
  const analysed_text text(".decl a(x:number)\n.decl b(x:number, y:number)\n.functor known(x:number):number\n\n\n\n" +
                           GetParam().body + "\n");
  EXPECT_FALSE(text.accepted());
  const std::string report = text.report.to_string();
  EXPECT_TRUE(text.error_lines().contains(7)) << report;
  EXPECT_TRUE(mentions(report, GetParam().message)) << report;
}

INSTANTIATE_TEST_SUITE_P(all, unsupported,
                         testing::Values(rejected{"a(@@known 1 : x, { a(_) }) :- a(x).", "Initial value of @@known"},
                                         rejected{
                                             ".decl e(x:number, y:number) choice-domain x e(x,a) <= e(x,b) :- b < a.",
                                             "choice-domain"}));

TEST(rules, look_wrong_but_are_right) {
  const analysed_text text(
      ".decl a(x:number, s:symbol)\na(1,\"one\").\n.decl b(x:number)\n"
      "b(y) :- a(x,_), y = z, z = x + 1.\nb(y) :- y = x, a(x,_).\nb(x) :- a(x,_), !a(_, \"three\").\n"
      "b(x) :- x = y + 1, 6 = y.\nb(x) :- a(x,_), !(x != 1).\nb(x) :- x = 3, true.\n");
  EXPECT_TRUE(text.accepted()) << text.report.to_string();
}

TEST(rules, plans_that_say_nothing_are_accepted) {
  const std::string declarations =
      ".decl a(x:number)\na(1).\n.decl e(x:number)\n.decl f(x:number)\nf(x) :- a(x), e(x).\n.decl i(x:number)\n.input "
      "i\n";
  for (const std::string rule : {"a(x) :- a(x), e(x). .plan 0:(1,2), 7:(1)", "i(x) :- a(x), e(x). .plan 0:(2,1)",
                                 "i(x) :- f(x). .plan 0:(1)", "a(x) <= a(y) :- x < y. .plan 0:(2,1), 1:(1,2)"}) {
    const analysed_text text(declarations + rule + "\n");
    EXPECT_TRUE(text.accepted()) << text.report.to_string();
  }
  for (const std::string rule : {"f(x) :- a(x), i(x). .plan 0:(2,1)", "f(x) :- a(x), !e(x). .plan 0:(1)"}) {
    EXPECT_FALSE(analysed_text(declarations + rule + "\n").accepted()) << rule;
  }
}

TEST(types, each_type_of_a_cycle_is_an_error) {
  const analysed_text text(
      ".type A = B\n.type B = C\n.type C = A\n.type U = V | W\n.type V = U\n.type W = U\n.type S <: S\n"
      ".type X = A\n.type Y = number | X\n.type R = [r:R, a:A]\n.decl r(a:A, x:X, y:Y, r:R)\n");
  EXPECT_EQ(text.error_lines(), (std::set<std::uint32_t>{1, 2, 3, 4, 5, 6, 7})) << text.report.to_string();
  EXPECT_EQ(text.report.error_count(), 7U) << text.report.to_string();
}

TEST(warnings, of_empty_relations_are_suppressed_by_name) {
  const auto warned = [](const std::string& pragma) {
    const analysed_text text(pragma +
                             ".comp C { .decl r(x:number) }\n.init c = C\n.decl a(x:number)\n.decl b(x:number)\n");
    return text.report.warning_count();
  };
  EXPECT_EQ(warned(""), 3U);
  EXPECT_EQ(warned(".pragma \"suppress-warnings\" \"*\"\n"), 0U);
  EXPECT_EQ(warned(".pragma \"suppress-warnings\" \"a,c.r\"\n"), 1U);
  EXPECT_EQ(warned(".pragma \"suppress-warnings\"\n"), 3U);
}

/// Errors as lines, without their places and the clause.
/// Without the notes that say where a type is declared.
std::vector<std::string> errors_of(const std::string& clause) {
  const analysed_text text(
      ".type T <: symbol\n.type R <: symbol\n.type P = [r:R]\n.decl f(r:R, t:T)\n.decl p(p:P)\n"
      ".decl n(x:number)\n.decl g(r:symbol, t:symbol)\n" +
      clause);
  std::vector<std::string> lines;
  for (const auto* remark : text.report.sorted()) {
    if (remark->level != severity::error) continue;
    lines.push_back(remark->message);
    for (const auto& note : remark->notes) {
      if (note.message.find(" is declared as ") == std::string::npos) lines.push_back(note.message);
    }
  }
  return lines;
}

TEST(rules, explanations_of_types_name_what_is_incompatible) {
  const auto untyped = [](const std::string& name) { return "Unable to deduce type for variable " + name; };
  const std::string explained = "Following constraints are incompatible:";
  const auto demand = [](const std::string& name, const std::string& type) {
    return "   Type of variable '" + name + "' should be a subtype of '" + type + "'";
  };
  using lines = std::vector<std::string>;
  EXPECT_EQ(errors_of("g(x,y) :- f(x,y), x > y."),
            (lines{untyped("x"), explained, "   var(y) <: var(x)", untyped("y"), explained, "   var(x) <: var(y)"}));
  EXPECT_EQ(errors_of("g(x,y) :- f(x,v), f(w,y), w != v, v = z, z = t, f(_,t)."),
            (lines{untyped("v"), explained, "   var(w) <: var(v)", untyped("w"), explained, "   var(v) <: var(w)",
                   untyped("z"), explained, "   var(v) <: var(z)", "   var(t) <: var(z)", untyped("t"), explained,
                   "   var(z) <: var(t)"}));
  EXPECT_EQ(errors_of("g(x,x) :- f(x,x), g(x,y), x = y."),
            (lines{untyped("x"), explained, demand("x", "R"), demand("x", "T"), untyped("y"), explained,
                   "   var(x) <: var(y)"}));
  EXPECT_EQ(errors_of("g(x,x) :- p(y), y = [x], f(_,x)."),
            (lines{untyped("x"), explained, demand("x", "T"), demand("x", "R")}));
}

TEST(lattices, missing_operations_are_warned_of) {
  const std::string functors = ".functor f(number, number):number\n";
  EXPECT_EQ(analysed_text(functors + ".comp C { .lattice number<> { Lub -> @f(_, _), Bottom -> 0 } }\n"
                                     ".init c = C\n.init d = C\n")
                .report.to_string(),
            "Warning: Lattice number<> does not define Glb in file test.dl at line 2\n"
            ".comp C { .lattice number<> { Lub -> @f(_, _), Bottom -> 0 } }\n"
            "----------^----------------------------------------------------\n"
            "Warning: Lattice number<> does not define Top in file test.dl at line 2\n"
            ".comp C { .lattice number<> { Lub -> @f(_, _), Bottom -> 0 } }\n"
            "----------^----------------------------------------------------\n");
  EXPECT_EQ(analysed_text(functors + ".lattice number<> { Lub -> @f(_, _), Top -> 9, Glb -> @f(_, _), Bottom -> 0 }\n")
                .report.to_string(),
            "");
}

TEST(rules, singletons_are_warned_of_once) {
  const analysed_text text(
      ".decl a(x:number, y:number)\na(1,2).\n.decl b(x:number)\n"
      "b(x) :- a(x, lonely), (x = 1 ; x = 2).\nb(_z) :- a(_z, _z).\nb(x) :- a(x, _y).\n");
  ASSERT_TRUE(text.accepted()) << text.report.to_string();
  const std::string report = text.report.to_string();
  EXPECT_EQ(text.report.sorted().size(), 2u) << report;
  EXPECT_TRUE(mentions(report, "Variable lonely only occurs once"));
  EXPECT_TRUE(mentions(report, "Variable _z marked as singleton"));
}

TEST(rules, names_are_counted_in_each_choice_of_alternatives) {
  const auto report_of = [](const std::string& rule) {
    const analysed_text text(".decl a(x:number)\na(1).\n.decl f(x:number)\nf(1).\n.decl b(x:number)\n" + rule);
    EXPECT_TRUE(text.accepted()) << text.report.to_string();
    return text.report.to_string();
  };
  const std::string once = "Variable y only occurs once", more = "Variable _z marked as singleton";
  for (const char* const rule : {
           "b(x) :- a(x), (a(y) ; f(y)).",
           "b(x) :- a(x), (f(x) ; a(x), a(y)).",
           "b(x) :- a(x), a(y), (f(y) ; f(x)).",
           "b(x) :- a(x), (f(x) ; (a(y) ; f(y)), f(1)).",
           "b(x) :- a(x) ; f(x), f(y).",
           "b(x) :- a(x), a(y), !(f(x), x = y).",
       }) {
    EXPECT_TRUE(mentions(report_of(rule), once)) << rule;
  }
  for (const char* const rule : {
           "b(x) :- a(x), (a(_z) ; f(_z)).",
           "b(x) :- a(x), (f(x) ; (a(_z) ; f(_z)), f(1)).",
           "b(x) :- a(x), a(y), (f(y) ; y = 1).",
           "b(x) :- a(x), (a(y), f(y) ; f(x)).",
           "b(x) :- a(x), a(y), !(f(y) ; y = 1).",
           "b(x) :- (a(x) ; f(x)), (a(_z) ; f(1)).",
       }) {
    EXPECT_EQ(report_of(rule), "") << rule;
  }
  for (const char* const rule : {
           "b(x) :- a(x), (a(_z) ; f(_z)), f(_z).",
           "b(x) :- a(x), (a(_z), f(_z) ; f(x)).",
           "b(x) :- a(x), (a(_z) ; f(1)), (f(1) ; f(_z)).",
       }) {
    EXPECT_TRUE(mentions(report_of(rule), more)) << rule;
  }
}

TEST(rules, names_that_are_local_to_an_aggregate_are_counted_by_themselves) {
  const auto remarks_on = [](const std::string& rule) {
    const analysed_text text(".decl a(x:number, y:number)\na(1,2).\n.decl b(x:number, y:number)\n" + rule);
    std::string remarks;
    for (const diagnostic& remark : text.report.to_public()) {
      remarks += std::to_string(remark.line) + ":" + std::to_string(remark.column) + " " + remark.message + "\n";
    }
    return remarks;
  };
  EXPECT_EQ(remarks_on("b(x,y) :- a(x,z), y = sum z : { a(x,z), z > 0 }."), "4:15 Variable z only occurs once\n");
  EXPECT_EQ(remarks_on("b(x,y) :- a(x,z), z < 9, y = sum z : a(x,z)."), "");
  EXPECT_EQ(remarks_on("b(x,y) :- a(x,_), y = sum z : a(x,z)."), "");
  EXPECT_EQ(remarks_on("b(x,y) :- y = min z : a(x,z)."), "");
  EXPECT_EQ(remarks_on("b(x,y) :- x = count : a(z,1), y = count : a(z,2)."),
            "4:25 Variable z only occurs once\n4:45 Variable z only occurs once\n");
  EXPECT_EQ(remarks_on("b(x,y) :- a(x,_z), y = sum _z : a(x,_z)."),
            "4:28 Variable _z marked as singleton but occurs more than once\n");
}

TEST(rules, a_name_that_occurs_once_is_shown_where_it_does) {
  const analysed_text text(
      ".decl a(x:number, y:number)\na(1,2).\n.decl b(x:number)\n"
      "b(x) :- a(x, y), y = 2 ;\n a(x, y).\n");
  ASSERT_TRUE(text.accepted()) << text.report.to_string();
  ASSERT_EQ(text.report.sorted().size(), 1u) << text.report.to_string();
  EXPECT_TRUE(mentions(text.report.to_string(), "at line 5")) << text.report.to_string();
}

}  // namespace
}  // namespace gpulog::sema
