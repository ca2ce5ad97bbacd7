#include <gtest/gtest.h>

#include "analysed_text.hpp"
#include "sema/print.hpp"

namespace gpulog::sema {
namespace {

struct explained {
  std::string program;
  std::vector<std::string> texts;  ///< in this order
};

class type_messages : public testing::TestWithParam<explained> {};

TEST_P(type_messages, say_what_is_found_what_is_expected_and_why) {
  const analysed_text text(
      ".decl s(name:symbol)\n.decl n(size:number)\n.functor f(x:number):symbol\n.type R = [x:number, y:symbol]\n"
      ".decl r(x:R)\n" +
      GetParam().program + "\n");
  EXPECT_FALSE(text.accepted());
  const std::string report = text.report.to_string();
  std::size_t at = 0;
  for (const std::string& wanted : GetParam().texts) {
    at = report.find(wanted, at);
    ASSERT_NE(at, std::string::npos) << wanted << "\n" << report;
  }
  EXPECT_EQ(report.find("@1"), std::string::npos) << report;
}

const std::string name_is_symbol = "Attribute name of relation s is declared as symbol in file test.dl at line 1";
const std::string size_is_number = "Attribute size of relation n is declared as number in file test.dl at line 2";

INSTANTIATE_TEST_SUITE_P(
    all, type_messages,
    testing::Values(
        explained{"s(x) :- s(x), x > 2.",
                  {"Number constant (type mismatch) in file test.dl at line 6",
                   "Found number where symbol is expected, the type of x", name_is_symbol}},
        explained{"s(n) :- s(y), n = strlen(y).",
                  {"Functor strlen (type mismatch) in file test.dl at line 6",
                   "Found number where symbol is expected, the type of n", name_is_symbol}},
        explained{"n(strlen(x)) :- n(x).",
                  {"No valid overloads for functor strlen with arguments of type (number)",
                   "x is number. " + size_is_number, "strlen takes (symbol) and gives number"}},
        explained{"n(x + \"a\") :- n(x).",
                  {"No valid overloads for functor +", "x is number. " + size_is_number,
                   "+ takes (symbol, symbol) and gives symbol"}},
        explained{"n(\"a\").", {"Symbol constant", "Found symbol where number is expected", size_is_number}},
        explained{"n(@f(1)).", {"Functor @f (type mismatch)", "Found symbol where number is expected", size_is_number}},
        explained{"s(@f(\"a\")).",
                  {"Symbol constant", "Found symbol where number is expected",
                   "Parameter 1 of functor @f is declared as number in file test.dl at line 3"}},
        explained{"r([1,2]).", {"Number constant", "Field 2 of the record is declared as symbol"}},
        explained{"s(x) :- s(_), x = sum y : n(y).",
                  {"Aggregate sum (type mismatch)", "Found number where symbol is expected", name_is_symbol}},
        explained{"s(x) :- s(x), n(y), y = x.", {"Unable to deduce type", "is symbol. " + name_is_symbol}},
        explained{"n(3000000000).", {"Number constant out of range", "--word-size 64"}}));

TEST(type_messages, say_nothing_of_64_bits_that_would_not_help) {
  const analysed_text text(".decl n(x:number)\nn(99999999999999999999).\n");
  EXPECT_EQ(text.report.to_string().find("--word-size"), std::string::npos);
}

TEST(type_messages, end_where_types_come_from_each_other) {
  std::string rule = "n(x) :- n(x), x = \"a\"";
  for (int i = 0; i < 300; ++i) rule += ", x != y" + std::to_string(i % 7) + ", y" + std::to_string(i % 7) + " < x + 1";
  const analysed_text text(".decl n(x:number)\n" + rule + ".\n");
  EXPECT_FALSE(text.accepted());
}

TEST(made_names, are_left_out_of_texts) {
  EXPECT_EQ(without_made_names("f(x@1,?y@12,@g(z@3@copy)) \"a@1\\\"b@2\" @1 @better @@g x : 0"),
            "f(x,?y,@g(z)) \"a@1\\\"b@2\" @1 @better @@g x : 0");
}

}  // namespace
}  // namespace gpulog::sema
