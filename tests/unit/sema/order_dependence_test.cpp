#include "sema/order_dependence.hpp"

#include <gtest/gtest.h>

#include <string>

#include "analysed_text.hpp"

namespace gpulog {
namespace {

bool reads_numbers(const std::string& rules) {
  const analysed_text text(
      ".type P = [a:number, b:symbol]\n.type T = A {x:number, p:P} | B {}\n.type E = Red {} | Green {}\n"
      ".decl s(x:symbol)\n.decl p(x:P)\n.decl t(x:T)\n.decl n(x:number)\n.decl u(x:unsigned)\n.decl m(x:number)\n"
      "s(\"a\"). s(\"b\"). p([1,\"a\"]). t($A(1,[1,\"a\"])). n(1).\n" +
      rules);
  EXPECT_TRUE(text.accepted()) << text.report.to_string();
  return text.accepted() && sema::reads_internal_numbers(*text.program);
}

TEST(order_dependence, casts_and_comparisons_read_internal_numbers) {
  EXPECT_TRUE(reads_numbers("n(ord(x)) :- s(x).\n"));
  EXPECT_TRUE(reads_numbers("n(as(x, number)) :- p(x).\n"));
  EXPECT_TRUE(reads_numbers("n(ord(x)) :- t(x).\n"));
  EXPECT_TRUE(reads_numbers("n(ord(cat(x, x))) :- s(x).\n"));
  EXPECT_TRUE(reads_numbers("s(as(x, symbol)) :- n(x).\n"));
  EXPECT_TRUE(reads_numbers("m(c) :- c = count : {s(x), s(y), ord(x) < ord(y)}.\n"));
  EXPECT_TRUE(reads_numbers("m(c) :- c = max ord(x) : {s(x)}.\n"));
  EXPECT_TRUE(reads_numbers("s(x) :- s(x), n(ord(x)).\n"));
}

TEST(order_dependence, other_rules_read_no_internal_numbers) {
  EXPECT_FALSE(reads_numbers(""));
  EXPECT_FALSE(reads_numbers("s(cat(x, to_string(y))) :- s(x), n(y), x < \"b\", strlen(x) = 1.\n"));
  EXPECT_FALSE(reads_numbers("p([x, y]) :- p([x, y]), s(y).\nt($A(x, y)) :- t($A(x, y)), p(y).\nt($B()).\n"));
  EXPECT_FALSE(reads_numbers("m(c) :- c = sum x : {n(x)}.\nn(ord(\"a\")).\nu(as(x, unsigned)) :- n(x), x < 3.\n"));
  EXPECT_FALSE(reads_numbers("s(max(x, y)) :- s(x), s(y), match(\"a.*\", x).\nn(to_number(x)) :- s(x).\n"));
  EXPECT_FALSE(reads_numbers("p(nil).\n.decl e(x:E)\ne($Red()).\n"));
}

}  // namespace
}  // namespace gpulog
