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
        explained{"n(3000000000).", {"Number constant out of range", "word_size=64"}}));

TEST(type_messages, report_a_call_with_wrong_operands_once) {
  for (const char* const test : {"strlen(x) = 1", "1 != strlen(x)", "index_of(x, \"a\") > 0", "trim(x) = \"a\""}) {
    const analysed_text text(".decl n(x:number)\nn(x) :- n(x), " + std::string(test) + ".\n");
    EXPECT_EQ(text.report.error_count(), 1U) << text.report.to_string();
    EXPECT_NE(text.report.to_string().find("No valid overloads"), std::string::npos) << text.report.to_string();
  }
}

TEST(type_messages, explain_values_that_format_does_not_write) {
  const analysed_text text(".type R = [x:number]\n.decl r(x:R)\n.decl s(x:symbol)\ns(format(\"{}\", x)) :- r(x).\n");
  EXPECT_EQ(text.report.to_string(),
            "Warning: No rules/facts defined for relation r in file test.dl at line 2\n"
            ".decl r(x:R)\n------^------\n"
            "Error: A record or branch in functor format (type mismatch) in file test.dl at line 4\n"
            "s(format(\"{}\", x)) :- r(x).\n---------------^------------\n"
            "x is R. Attribute x of relation r is declared as R in file test.dl at line 2\n"
            ".decl r(x:R)\n--------^----\n"
            "Values that format writes are numbers and symbols: write the fields of the record\n"
            "1 errors generated, evaluation aborted\n");
}

TEST(type_messages, say_nothing_of_64_bits_that_would_not_help) {
  const analysed_text text(".decl n(x:number)\nn(99999999999999999999).\n");
  EXPECT_EQ(text.report.to_string(),
            "Error: Number constant out of range (type mismatch) in file test.dl at line "
            "2\nn(99999999999999999999).\n--^----------------------\n1 errors generated, evaluation aborted\n");
}

TEST(type_messages, name_literals_that_are_out_of_range) {
  const auto remarks_on = [](const std::string& clause) {
    const analysed_text text(".decl n(x:number)\n.decl u(x:unsigned)\n.decl f(x:float)\nn(1). u(1). f(1).\n" + clause);
    std::string remarks;
    for (const diagnostic& remark : text.report.to_public()) {
      remarks += std::to_string(remark.line) + ":" + std::to_string(remark.column) + " " + remark.message + "\n";
    }
    return remarks;
  };
  const std::string number = "Number constant out of range (type mismatch)\n";
  const std::string note = "Numbers have 32 bits here; with word_size=64 they have 64 bits";
  for (const char* const expression :
       {"x + 3000000000", "x + 99999999999", "x * 0x1FFFFFFFFF", "x + (1 - -3000000000)", "max(x, 1, 99999999999)"}) {
    const analysed_text text(".decl n(x:number)\nn(1).\nn(" + std::string(expression) + ") :- n(x).\n");
    EXPECT_EQ(text.error_lines(), std::set<std::uint32_t>{3}) << expression;
    EXPECT_TRUE(mentions(text.report.to_string(), "Error: " + number.substr(0, number.size() - 1))) << expression;
    EXPECT_TRUE(mentions(text.report.to_string(), note)) << text.report.to_string();
    EXPECT_FALSE(mentions(text.report.to_string(), "float")) << text.report.to_string();
  }
  EXPECT_EQ(remarks_on("n(x) :- n(x), y = 99999999999, x < y."), "5:19 " + number);
  EXPECT_EQ(remarks_on("n(x) :- n(x), x = 99999999999."), "5:19 " + number);
  EXPECT_EQ(remarks_on("u(18446744073709551616)."), "5:3 " + number);
  EXPECT_EQ(remarks_on("u(4294967295)."), "");
  EXPECT_EQ(remarks_on("f(x + 99999999999) :- f(x)."), "");
  EXPECT_EQ(
      remarks_on("u(0x1FFFFFFFF). u(4294967298u)."),
      "5:3 Unsigned constant 0x1FFFFFFFF is out of range and wraps around to 4294967295; with word_size=64 it fits\n"
      "5:19 Unsigned constant 4294967298 is out of range and wraps around to 2; with word_size=64 it fits\n");
  EXPECT_EQ(
      remarks_on("u(x) :- u(x), x band 0x8000000000000000 = 0."),
      "5:22 Unsigned constant 0x8000000000000000 is out of range and wraps around to 0; with word_size=64 it fits\n");
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
