#include <bit>

#include "loading.hpp"

namespace gpulog::io {
namespace {

/// A loading from r.json.
struct json_loading : loading {
  explicit json_loading(std::vector<value_kind> kinds) : loading(std::move(kinds)) {
    request.parameters = {{"IO", "jsonfile"}, {"filename", "r.facts"}};
  }
};

TEST(json_reader, lists) {
  json_loading load({number, symbol, floating, unsigned_number});
  EXPECT_EQ(load.run("[[1, \"one\", 0.5, 4294967295],\n [-2, \"two, [words]\", 2, 0],[3e0,\"\",1e1,2.0]]\n"), 3U);
  EXPECT_EQ(load.columns[0], (std::vector<word>{1, static_cast<word>(-2), 3}));
  EXPECT_EQ(load.texts(1), (std::vector<std::string>{"one", "two, [words]", ""}));
  EXPECT_EQ(load.columns[2],
            (std::vector<word>{std::bit_cast<word>(0.5F), std::bit_cast<word>(2.0F), std::bit_cast<word>(10.0F)}));
  EXPECT_EQ(load.columns[3], (std::vector<word>{4294967295, 0, 2}));
}

TEST(json_reader, objects) {
  json_loading load({symbol, symbol});
  load.request.attribute_names = {"a", "b"};
  EXPECT_EQ(load.run("[ {\"b\" : \"x\", \"a\": \"y\", \"more\": 5}, {\"a\":\"x\",\"b\":\"y\"} ]"), 2U);
  EXPECT_EQ(load.columns, (column_words{{0, 1}, {1, 0}}));
  EXPECT_EQ(load.texts(0), (std::vector<std::string>{"y", "x"}));
}

TEST(json_reader, escapes) {
  json_loading load({symbol});
  EXPECT_EQ(load.run(R"([["q\"b\\s\/\b\f\n\r\t"], ["\u0041\u00e9\u20ac\uD83D\ude00\u0000."], ["é"]])"), 3U);
  EXPECT_EQ(load.texts(0),
            (std::vector<std::string>{"q\"b\\s/\b\f\n\r\t", std::string("A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\0.", 12),
                                      "é"}));
}

TEST(json_reader, a_byte_order_mark) {
  json_loading load({number});
  EXPECT_EQ(load.run("\xEF\xBB\xBF[[1]]"), 1U);
  EXPECT_EQ(load.run("\xEF\xBB\xBF"), 0U);
}

TEST(json_reader, numbers_that_are_not_finite) {
  json_loading load({floating});
  EXPECT_EQ(load.run("[[\"inf\"],[\"-inf\"],[\"nan\"],[\"-nan\"],[inf],[-nan],[Infinity],[NaN]]"), 8U);
  EXPECT_EQ(load.columns[0], (std::vector<word>{0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7f800000, 0xffc00000,
                                                0x7f800000, 0x7fc00000}));
}

TEST(json_reader, nothing) {
  json_loading load({number});
  EXPECT_EQ(load.run(""), 0U);
  EXPECT_EQ(load.run(" [ ] "), 0U);
  json_loading nullary({});
  EXPECT_EQ(nullary.run("[[]]"), 1U);
}

TEST(json_reader, errors) {
  json_loading load({number, symbol});
  load.request.attribute_names = {"a", "b"};
  const auto expect = [&](const std::string& text, const std::string& what) {
    EXPECT_EQ(load.error(text), "Error loading r data: " + what + "; cannot parse fact file r.facts!");
  };
  expect("[[1,\"a\"],\n[2]]", "Values missing in line 2");
  expect("[{\"a\": 1}]", "Values missing in line 1");
  expect("[[1,2]]", "Error converting <2> in column 2 in line 1 (a number instead of a text)");
  expect("[[1,null]]", "Error converting <null> in column 2 in line 1 (null instead of a text)");
  expect("[[1,true]]", "Error converting <true> in column 2 in line 1 (true instead of a text)");
  expect("[[1,word]]", "Error converting <word> in column 2 in line 1");
  expect("[[\"1\",\"a\"]]", "Error converting <1> in column 1 in line 1 (a text instead of a number)");
  expect("[[\"5000000000\",\"a\"]]",
         "Error converting <5000000000> in column 1 in line 1 (a text instead of a number)");
  expect("[[1.5,\"a\"]]", "Error converting <1.5> in column 1 in line 1");
  expect("[[2147483648.0,\"a\"]]", "Error converting <2147483648.0> in column 1 in line 1");
  expect("[[null,\"a\"]]", "Error converting <null> in column 1 in line 1 (null instead of a number)");
  expect("[[[1],\"a\"]]", "Expected a value in line 1");
  expect("[\n[1,\"a]]", "Closing quote missing in line 2");
  expect("[[1,\"\\x\"]]", "Unknown escape \\x in line 1");
  expect("[[1,\"\\u12\"]]", "A \\u escape has four hexadecimal digits in line 1");
  expect("[[1,\"\\ud800\"]]", "Unmatched surrogate in line 1");
  expect("[[1,\"a\"]", "Expected ], but the text ends in line 1");
  expect("[[1,\"a\"]] x", "Text after the end of the list in line 1");
  expect("{}", "Expected [, but found { in line 1");
  expect("[[1,", "Expected a value in line 1");
  expect("[{a:1}]", "Expected the name of an attribute in line 1");
  expect("[[1,\"a\",[[[[", "Expected a value in line 1");
}

TEST(json_reader, texts_in_columns_of_numbers) {
  json_loading load({floating, unsigned_number});
  EXPECT_EQ(
      load.whole_error("[[\"1.5\",1],\n[null,2],[1,\"1\"]]"),
      "Error loading r data: Error converting <1.5> in column 1 in line 1 (a text instead of a number); cannot parse "
      "fact file r.facts!\n[[\"1.5\",1],\n--^\n"
      "Error converting <null> in column 1 in line 2 (null instead of a number)\n[null,2],[1,\"1\"]]\n-^\n"
      "Error converting <1> in column 2 in line 2 (a text instead of a number)\n[null,2],[1,\"1\"]]\n------------^");
}

TEST(json_reader, errors_show_the_place) {
  json_loading load({number, symbol});
  const auto shown = [&](const std::string& text) {
    const std::string whole = load.whole_error(text);
    return whole.substr(whole.find('\n') + 1);
  };
  EXPECT_EQ(shown("[[1,\"a\"],\n [x,\"a\"]]"), " [x,\"a\"]]\n--^");
  EXPECT_EQ(shown("[[3000000000,\"a\"]]"),
            "[[3000000000,\"a\"]]\n--^\nNumbers have 32 bits here; with word_size=64 they have 64 bits");
  EXPECT_EQ(shown("[[1,\n\"a]]"), "\"a]]\n----^");
  EXPECT_EQ(shown("[[1]]"), "[[1]]\n----^");
}

TEST(json_reader, errors_of_ten_rows_and_how_many_more) {
  json_loading load({number, symbol});
  std::string rows;
  for (int line = 1; line <= 3000; ++line) {
    // Faults of several kinds, of which the first in a row counts.
    const std::string fault = line % 300 == 0 ? "[[1,{\"k\":[]}],2,3]" : line % 200 == 0 ? "[5]" : "[\"bad\",7]";
    rows += (line % 100 == 0 ? fault : "[" + std::to_string(line) + ",\"a\"]") + ",\n";
  }
  const std::string shown = load.whole_error("[" + rows + "[1,\"a\"]]");
  EXPECT_EQ(shown,
            "Error loading r data: Error converting <bad> in column 1 in line 100 (a text instead of a number); "
            "cannot parse fact file r.facts!\n[\"bad\",7],\n-^\n"
            "Values missing in line 200\n[5],\n---^\n"
            "Expected a value in line 300\n[[1,{\"k\":[]}],2,3],\n-^\n"
            "Values missing in line 400\n[5],\n---^\n"
            "Error converting <bad> in column 1 in line 500 (a text instead of a number)\n[\"bad\",7],\n-^\n"
            "Expected a value in line 600\n[[1,{\"k\":[]}],2,3],\n-^\n"
            "Error converting <bad> in column 1 in line 700 (a text instead of a number)\n[\"bad\",7],\n-^\n"
            "Values missing in line 800\n[5],\n---^\n"
            "Expected a value in line 900\n[[1,{\"k\":[]}],2,3],\n-^\n"
            "Values missing in line 1000\n[5],\n---^\n20 more");
  const std::string cut = load.whole_error("[" + rows);
  EXPECT_TRUE(cut.ends_with("\nat least 21 more")) << cut;
  EXPECT_EQ(load.whole_error("[[\"x\",\"a\"],\n[1,"),
            "Error loading r data: Error converting <x> in column 1 in line 1 (a text instead of a number); "
            "cannot parse fact file r.facts!\n[[\"x\",\"a\"],\n--^\nExpected a value in line 2\n[1,\n---^");
}

}  // namespace
}  // namespace gpulog::io
