#include "io/values/structured_value.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace gpulog::io {
namespace {

class structured_values : public testing::Test {
 protected:
  structured_values() : symbols_(std::vector<std::string>{}) {
    const value_type number{value_kind::number, {}};
    const value_type symbol{value_kind::symbol, {}};
    const value_type list{value_kind::record, structure_id(0)};
    const value_type tree{value_kind::adt, structure_id(1)};
    types_.push_back({"List", value_kind::record, {{"head", symbol}, {"tail", list}}, {}});
    types_.push_back({"Tree",
                      value_kind::adt,
                      {},
                      {{"Leaf", {}}, {"Named", {{"n", symbol}}}, {"Node", {{"l", tree}, {"r", tree}, {"k", number}}}}});
    types_.push_back({"Colour", value_kind::adt, {}, {{"Blue", {}}, {"Red", {}}}});
    columns_.types = &types_;
    columns_.records = &records_;
  }

  std::optional<word> parse(const std::string& text, std::uint32_t structure) {
    word value = 0;
    const value_type type{types_[structure].kind, structure_id(structure)};
    if (!parse_structured(text, type, columns_, symbols_, value)) return std::nullopt;
    return value;
  }
  std::string print(word value, std::uint32_t structure, bool quoted = false) {
    byte_buffer text;
    structured_printer(text, columns_, quoted, symbols_)
        .print(value, {types_[structure].kind, structure_id(structure)});
    return std::string(text.bytes());
  }
  /// What is read of the text, as text.
  std::string round(const std::string& text, std::uint32_t structure, bool quoted = false) {
    const auto value = parse(text, structure);
    return value ? print(*value, structure, quoted) : "refused";
  }

  std::vector<structure_type> types_;
  storage::symbol_table symbols_;
  storage::record_tables records_;
  structured_columns columns_;
};

TEST_F(structured_values, records) {
  EXPECT_EQ(round("nil", 0), "nil");
  EXPECT_EQ(round("[a,[ two words ,nil]]", 0), "[a, [two words, nil]]");
  EXPECT_EQ(round(" [ , nil ] ", 0), "[, nil]");
  EXPECT_EQ(parse("[a, nil]", 0), parse("[a,nil]", 0));
}

TEST_F(structured_values, branches) {
  EXPECT_EQ(round("$Leaf", 1), "$Leaf");
  EXPECT_EQ(round("$Leaf()", 1), "$Leaf");
  EXPECT_EQ(round("$Named(a b)", 1), "$Named(a b)");
  EXPECT_EQ(round("$Node($Leaf,$Named(x), -3)", 1), "$Node($Leaf, $Named(x), -3)");
  EXPECT_EQ(parse("$Red", 2), 1U);
  EXPECT_EQ(print(0, 2), "$Blue");
  const auto leaf = parse("$Leaf", 1);
  ASSERT_TRUE(leaf);
  EXPECT_EQ(records_[2].fields(*leaf)[0], 0U);
  EXPECT_EQ(records_[2].fields(*leaf)[1], record_without_fields);
}

TEST_F(structured_values, quoted_symbols_round_trip) {
  EXPECT_EQ(round(R"(["a, b]", ["say \"\\\"", nil]])", 0, true), R"(["a, b]", ["say \"\\\"", nil]])");
  EXPECT_EQ(round(R"(["open, nil])", 0, true), "refused");
}

TEST_F(structured_values, quoted_symbols_are_read_wherever_they_stand) {
  EXPECT_EQ(round(R"(["four", nil])", 0), "[four, nil]");
  EXPECT_EQ(round(R"([ "q\"r" ,nil])", 0), "[q\"r, nil]");
  EXPECT_EQ(round(R"(["a,b]", nil])", 0), "[a,b], nil]");
  EXPECT_EQ(round("$Named(\" x)\")", 1), "$Named( x))");
  EXPECT_EQ(round(R"(["a" b, nil])", 0), "refused");
  EXPECT_EQ(round(R"([a"b", nil])", 0), "[a\"b\", nil]");
}

TEST_F(structured_values, wrong_texts_are_refused) {
  for (const char* text :
       {"", "[", "[a", "[a, nil", "[a]", "[a, nil, nil]", "[a, nil]]", "a", "nilx", "[a, [b, nil]"}) {
    EXPECT_EQ(round(text, 0), "refused") << text;
  }
  for (const char* text :
       {"", "$", "$Nobody", "Leaf", "$Node", "$Node($Leaf, $Leaf)", "$Named(a", "$Leaf(1)", "$Node($Leaf, $Leaf, x)"}) {
    EXPECT_EQ(round(text, 1), "refused") << text;
  }
}

TEST_F(structured_values, long_lists_need_no_stack) {
  std::string text = "nil";
  constexpr int length = 300'000;
  std::string opening;
  std::string closing;
  for (int i = 0; i < length; ++i) {
    opening += "[x, ";
    closing += "]";
  }
  text = opening + "nil" + closing;
  EXPECT_EQ(round(text, 0), text);
  EXPECT_EQ(round(opening, 0), "refused");
}

}  // namespace
}  // namespace gpulog::io
