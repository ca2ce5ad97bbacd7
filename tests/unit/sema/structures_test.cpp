#include <gtest/gtest.h>

#include <string>

#include "analysed_text.hpp"
#include "sema/print.hpp"

namespace gpulog {
namespace {

const std::string types =
    ".type P = [a:number, b:symbol]\n.type Q = [a:number]\n.type T = A {x:number, p:P} | B {} | C {n:symbol}\n"
    ".type E = Red {} | Green {}\n"
    ".decl p(x:P)\n.decl q(x:Q)\n.decl t(x:T)\n.decl e(x:E)\n.decl n(x:number)\nn(1).\n";

testing::AssertionResult is_rejected(const std::string& clause, const std::string& message) {
  const analysed_text text(types + clause);
  if (text.accepted()) return testing::AssertionFailure() << "accepted: " << clause;
  for (const auto* remark : text.report.sorted()) {
    if (remark->level == severity::error && remark->message.find(message) != std::string::npos) {
      return testing::AssertionSuccess();
    }
  }
  return testing::AssertionFailure() << "no message with '" << message << "' for " << clause;
}

TEST(structures, errors_name_what_is_wrong) {
  EXPECT_TRUE(is_rejected("n(x) :- p([x]).", "Wrong number of arguments given to record"));
  EXPECT_TRUE(is_rejected("n(x) :- p(y), q(y), y = [x,_].", "Unable to deduce type for variable y"));
  EXPECT_TRUE(is_rejected("n(x) :- n(y), y = [x,_].", "Record constructor used as a non-record"));
  EXPECT_TRUE(is_rejected("n(nil).", "Nil constant used as a non-record"));
  EXPECT_TRUE(is_rejected("p([1,2]).", "Number constant (type mismatch)"));
  EXPECT_TRUE(is_rejected("p([_,\"a\"]) :- n(_).", "Underscore in head of rule"));
  EXPECT_TRUE(is_rejected("n(1) :- p(x), x != [1,_].", "Underscore in a record"));
  EXPECT_TRUE(is_rejected("n(1) :- n(x), !p([x,_]).", "Underscore in a record"));
  EXPECT_TRUE(is_rejected("n(x) :- t($A(x+1,_)).", "Ungrounded variable x"));
  EXPECT_TRUE(is_rejected("n(x) :- p(y), [x,z] = [x,z].", "Ungrounded variable x"));
  EXPECT_TRUE(is_rejected("n(x) :- n(x), [x,1] = [x].", "Unable to deduce the type"));
  EXPECT_TRUE(is_rejected("n(x) :- n(x), y = [x,y].", "Unable to deduce the type"));
  EXPECT_TRUE(is_rejected("n(x) :- n(x), y = [x,z].", "Ungrounded variable z"));
  EXPECT_TRUE(is_rejected("n(x) :- n(x), _ != [x].", "Underscore in binary relation"));
  EXPECT_TRUE(is_rejected("t($A(1)).", "Mismatching arity of branch A (expected 2, got 1)"));
  EXPECT_TRUE(is_rejected("t($D()).", "Undefined branch $D"));
  EXPECT_TRUE(is_rejected("t($Red).", "type mismatch"));
  EXPECT_TRUE(is_rejected(".type F = Red {} | Blue {}", "Branch Red is defined more than once"));
  EXPECT_TRUE(is_rejected(".type F = Red { x: Nothing }", "Undefined type Nothing"));
  EXPECT_TRUE(is_rejected(".type U = P | Q", "contains different record types"));
  EXPECT_TRUE(is_rejected(".type R = [a:Nothing]", "Undefined type Nothing"));
  EXPECT_TRUE(is_rejected(".type R = [a:number, a:symbol]", "Doubly defined field name a"));
}

TEST(structures, branches_have_the_lexical_order_of_their_names) {
  const analysed_text text(types + "e($Red). e($Green).");
  ASSERT_TRUE(text.accepted());
  std::vector<wide_word> values;
  for (const sema::fact& fact : text.program->facts) {
    if (fact.relation == text.relation("e")) values.push_back(fact.values.front());
  }
  EXPECT_EQ(values, (std::vector<wide_word>{1, 0}));
}

TEST(structures, fields_of_a_branch_may_share_a_name) {
  EXPECT_TRUE(analysed_text(types + ".type F = N {x:number} | M {f:F, f:F}\n"
                                    ".decl f(x:F)\nf($M($N(0),$N(1))).\nn(x) :- f($M($N(_),$N(x))).")
                  .accepted());
}

TEST(structures, patterns_are_equalities_of_one_level) {
  const analysed_text text(types + "n(x) :- t($A(_,[x,_])), t($C(\"c\")).");
  ASSERT_TRUE(text.accepted());
  ASSERT_EQ(text.program->rules.size(), 1U);
  std::size_t records = 0;
  for (const sema::literal& literal : text.program->rules[0].body) {
    const auto* constraint = std::get_if<sema::constraint>(&literal);
    if (constraint == nullptr) continue;
    EXPECT_TRUE(constraint->left.is_variable());
    ASSERT_TRUE(constraint->right.is_record());
    for (const sema::expression& field : constraint->right.arguments) EXPECT_FALSE(field.is_record());
    ++records;
  }
  EXPECT_EQ(records, 4U);
}

TEST(structures, have_no_subtypes_but_inline_relations) {
  EXPECT_FALSE(analysed_text(types + ".type S <: P\n.decl s(x:S)\ns([1,\"a\"]).").accepted());
  EXPECT_TRUE(
      analysed_text(types + ".decl i(x:P) inline\ni([x,\"k\"]) :- n(x).\nn(x) :- i([x,_]).\np(y) :- i(y).").accepted());
}

}  // namespace
}  // namespace gpulog
