#include <sys/stat.h>

#include "compressed.hpp"
#include "loading.hpp"

namespace gpulog::io {
namespace {

TEST(facts_errors, too_few_columns) {
  loading load({symbol, number});
  EXPECT_EQ(load.error("a\t1\nb\n"), "Error loading r data: Values missing in line 2; cannot parse fact file r.facts!");
  loading numbers({number, number});
  EXPECT_EQ(numbers.error("1\t1\n1"),
            "Error loading r data: Values missing in line 2; cannot parse fact file r.facts!");
}

TEST(facts_errors, not_a_value) {
  const auto message = [](const std::string& text, int column, int line) {
    return "Error loading r data: Error converting <" + text + "> in column " + std::to_string(column) + " in line " +
           std::to_string(line) + "; cannot parse fact file r.facts!";
  };
  loading numbers({number});
  for (const std::string wrong : {"99999999999", "-2147483649", "2147483648", "99999999999999999999999", "x", "1x",
                                  "1 ", "", "-", "0x5", "1.5", "1-2"}) {
    EXPECT_EQ(numbers.error("1\n" + wrong + "\n3\n"), message(wrong, 1, 2));
    EXPECT_EQ(numbers.error("1\r\n" + wrong + "\r\n3\r\n"), message(wrong, 1, 2));
    EXPECT_EQ(numbers.error("1\n" + wrong + "\tmore"), message(wrong, 1, 2));
  }
  loading unsigned_numbers({symbol, unsigned_number});
  for (const std::string wrong : {"-1", "4294967296", "0b3", "0xx", ""}) {
    EXPECT_EQ(unsigned_numbers.error("a\t" + wrong), message(wrong, 2, 1));
  }
  loading floats({floating});
  for (const std::string wrong : {"1e99", "a", "", "1,5"}) EXPECT_EQ(floats.error(wrong + "\n"), message(wrong, 1, 1));
  EXPECT_EQ(numbers.error(std::string(100'000, 'z')), message(std::string(200, 'z') + "...", 1, 1));
  loading nothing({});
  EXPECT_EQ(nothing.error("anything\n"), "no error");
}

TEST(facts_errors, lines_are_counted_with_headers_and_in_quotes) {
  loading load({symbol, number});
  load.request.parameters = {{"headers", "true"}, {"rfc4180", "true"}};
  EXPECT_EQ(load.error("a,b\n\"x\ny\",1\nz,q\n"),
            "Error loading r data: Error converting <q> in column 2 in line 4; cannot parse fact file r.facts!");
  EXPECT_EQ(load.error("a,b\n\"x\ny\",1\nz\n"),
            "Error loading r data: Values missing in line 4; cannot parse fact file r.facts!");
  EXPECT_EQ(load.error("a,b\n\"x,1\nz,1\n"),
            "Error loading r data: Closing quote missing in column 1 in line 2; cannot parse fact file r.facts!");
  EXPECT_EQ(load.error("a,b\n\"x\"y,1\n"),
            "Error loading r data: Delimiter missing after the quoted value of column 1 in line 2; cannot parse fact "
            "file r.facts!");
}

TEST(facts_errors, show_the_line_with_a_caret) {
  loading load({symbol, number});
  EXPECT_EQ(load.whole_error("a\t1\nb\n"),
            "Error loading r data: Values missing in line 2; cannot parse fact file r.facts!\nb\n-^");
  EXPECT_EQ(load.whole_error("\xC3\xA4\t1x\r\n").substr(load.error("\xC3\xA4\t1x\r\n").size()), "\n\xC3\xA4\t1x\n-\t^");
  const std::string shown = load.whole_error(std::string(5000, 'a') + "\tx" + std::string(5000, 'b') + "\n");
  EXPECT_EQ(shown, "Error loading r data: Error converting <x" + std::string(199, 'b') +
                       "...> in column 2 in line 1; cannot parse fact file r.facts!\n" + std::string(99, 'a') + "\tx" +
                       std::string(99, 'b') + "\n" + std::string(99, '-') +
                       "\t^\nIf line 1 has the names of the columns, headers=true skips it");
  load.request.parameters = {{"rfc4180", "true"}};
  EXPECT_EQ(load.whole_error("a,1\n\"b\nc\",q\n").substr(load.error("a,1\n\"b\nc\",q\n").size()), "\nc\",q\n---^");
}

TEST(facts_errors, show_ten_and_count_the_others) {
  std::string text;
  for (int line = 1; line <= 3000; ++line) text += (line % 100 == 0 ? "bad" : std::to_string(line)) + "\t1\n";
  std::string expected = "Error loading r data: ";
  for (int line = 100; line <= 1000; line += 100) {
    expected += "Error converting <bad> in column 1 in line " + std::to_string(line) +
                (line == 100 ? "; cannot parse fact file r.facts!" : "") + "\nbad\t1\n^\n";
  }
  expected += "20 more";
  for (const unsigned threads : {1U, 2U, 4U}) {
    loading load({number, number});
    load.request.threads = threads;
    load.request.piece_bytes = 200;
    EXPECT_EQ(load.whole_error(text), expected);
  }
}

TEST(facts_errors, several_in_quoted_rows) {
  loading load({symbol, number});
  load.request.parameters = {{"rfc4180", "true"}};
  EXPECT_EQ(load.whole_error("a,x\n\"b\nc\",y\nd\ne,5\n\"f\"g,6\nh,z\n"),
            "Error loading r data: Error converting <x> in column 2 in line 1; cannot parse fact file "
            "r.facts!\na,x\n--^\nError converting <y> in column 2 in line 3\nc\",y\n---^\nValues missing in line "
            "4\nd\n-^\nDelimiter missing after the quoted value of column 1 in line 6\n\"f\"g,6\n---^\nIf line 1 has "
            "the names of the columns, headers=true skips it");
}

TEST(facts_errors, numbers_for_words_of_64_bits) {
  loading load({number, unsigned_number});
  EXPECT_EQ(load.whole_error("3000000000\t1\n"),
            "Error loading r data: Error converting <3000000000> in column 1 in line 1; cannot parse fact file "
            "r.facts!\n3000000000\t1\n^\nNumbers have 32 bits here; with word_size=64 they have 64 bits");
  EXPECT_EQ(load.whole_error("1\t5000000000\n"),
            "Error loading r data: Error converting <5000000000> in column 2 in line 1; cannot parse fact file "
            "r.facts!\n1\t5000000000\n-\t^\nNumbers have 32 bits here; with word_size=64 they have 64 bits");
  EXPECT_EQ(
      load.whole_error("1,\t1\n"),
      "Error loading r data: Error converting <1,> in column 1 in line 1; cannot parse fact file r.facts!\n1,\t1\n^");
  EXPECT_EQ(load.whole_error("1\t-1\n"),
            "Error loading r data: Error converting <-1> in column 2 in line 1; cannot parse fact file "
            "r.facts!\n1\t-1\n-\t^");
  EXPECT_EQ(load.whole_error("99999999999999999999\t1\n"),
            "Error loading r data: Error converting <99999999999999999999> in column 1 in line 1; cannot parse fact "
            "file r.facts!\n99999999999999999999\t1\n^");
}

TEST(facts_errors, files_of_other_kinds_are_named) {
  using namespace std::string_literals;
  loading load({symbol});
  const auto refusal = [](const std::string& kind) {
    return "Error loading r data: It is " + kind + "; gzip, zstd and UTF-8 are read; cannot parse fact file r.facts!";
  };
  EXPECT_EQ(load.error("\xfd\x37\x7a\x58 rest"), refusal("compressed with xz"));
  EXPECT_EQ(load.error("\xff\xfe\x31\0\n\0"s), refusal("text in UTF-16"));
  EXPECT_EQ(load.error("\xfe\xff\0\x31\0\n"s), refusal("text in UTF-16"));
  EXPECT_EQ(load.error("\xff\xfe in another encoding\n"), "no error");
  loading numbers({number});
  EXPECT_EQ(numbers.whole_error("\xEF\xBB\xBF\x31\n"),
            "Error loading r data: Error converting <\xEF\xBB\xBF"
            "1> in column 1 in line 1; cannot parse fact file r.facts!\n\xEF\xBB\xBF"
            "1\n^\nThe file begins with a byte order mark of UTF-8, which is part of its first value");
  numbers.request.parameters = {{"headers", "true"}};
  EXPECT_EQ(
      numbers.whole_error("\xEF\xBB\xBFx\n1\n2x\n"),
      "Error loading r data: Error converting <2x> in column 1 in line 3; cannot parse fact file r.facts!\n2x\n^");
}

TEST(facts_errors, brackets) {
  loading load({symbol, number});
  load.request.parameters = {{"delimiter", ","}};
  EXPECT_EQ(load.error("a,1\n[a,1\n"),
            "Error loading r data: Unbalanced record parenthesis in line 2; cannot parse fact file r.facts!");
}

TEST(facts_errors, the_first_line_in_the_file_whatever_the_threads) {
  std::string text;
  for (int line = 1; line <= 2000; ++line) text += (line % 500 == 123 ? "bad" : std::to_string(line)) + "\ts\n";
  for (const bool compressed : {false, true}) {
    for (const unsigned threads : {1U, 2U, 4U}) {
      loading load({number, symbol});
      load.request.threads = threads;
      load.request.piece_bytes = 200;
      if (compressed) text = gzipped(text);
      EXPECT_EQ(
          load.error(text),
          "Error loading r data: Error converting <bad> in column 1 in line 123; cannot parse fact file r.facts!");
      if (compressed) break;
    }
  }
}

TEST(facts_errors, compressed_data) {
  loading load({number});
  std::string text;
  for (int line = 0; line < 10'000; ++line) text += std::to_string(line * 7919) + "\n";
  for (const std::string& whole : {gzipped(text), zstd_compressed(text)}) {
    ASSERT_EQ(load.run(whole), 10'000U);
    for (const unsigned threads : {1U, 2U, 4U}) {
      load.request.threads = threads;
      load.request.piece_bytes = 1000;
      for (const std::size_t size : {std::size_t{4}, std::size_t{12}, whole.size() / 2, whole.size() - 1}) {
        const std::string message = load.error(whole.substr(0, size));
        EXPECT_TRUE(message.starts_with("Error loading r data: Compressed data ends too early in line ")) << message;
        EXPECT_TRUE(message.ends_with("; cannot parse fact file r.facts!")) << message;
      }
      std::string damaged = whole;
      damaged[whole.size() - (whole.starts_with("\x1f") ? 6 : 2)] ^= 1;  // the checksum
      EXPECT_TRUE(load.error(damaged).starts_with("Error loading r data: Compressed data is damaged in line "));
      damaged = whole + "garbage";
      EXPECT_EQ(load.error(damaged),
                "Error loading r data: Compressed data is damaged in line 10001; cannot parse fact file r.facts!");
    }
  }
}

TEST(facts_errors, compressed_data_that_needs_much_memory) {
  loading load({number});
  EXPECT_EQ(load.error(zstd_compressed("1\n", 28)),
            "Error loading r data: Compressed data needs a window of more than 128 MiB (zstd --long) in line 1; cannot "
            "parse fact file r.facts!");
}

TEST(facts_errors, quoted_values_need_memory_that_counts) {
  loading load({symbol});
  load.request.parameters["rfc4180"] = "true";
  const std::string value = std::string(std::size_t{9} << 20, 'x') + '"';
  const std::string line = '"' + value + "\"\"\n";  // the value's last character is doubled
  for (const unsigned threads : {1U, 2U}) {
    load.request.threads = threads;
    load.request.piece_bytes = 100;
    backend::host_memory little;
    little.set_limit(std::uint64_t{8} << 20);
    load.request.memory = &little;
    EXPECT_THROW(load.run("a\n\"b\"\"\"\n" + line + "c\n"), backend::memory_exceeded);
    EXPECT_EQ(little.used(), 0U);
    backend::host_memory enough;
    enough.set_limit(std::uint64_t{16} << 20);
    load.request.memory = &enough;
    ASSERT_EQ(load.run("a\n\"b\"\"\"\n" + line + "c\n"), 4U);
    EXPECT_EQ(load.texts(0), (std::vector<std::string>{"a", "b\"", value, "c"}));
    EXPECT_GE(enough.peak(), value.size());
    EXPECT_EQ(enough.used(), 0U);
  }
}

TEST(facts_errors, files_that_cannot_be_read) {
  loading load({number});
  const auto message = [&] {
    try {
      load.run();
    } catch (const user_error& problem) {
      return std::string(problem.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(message(), "Error loading r data: Cannot open fact file r.facts: there is no " +
                           (load.folder.path() / "r.facts").string());
  load.request.parameters["filename"] = "a/b.tsv";
  EXPECT_EQ(message(), "Error loading r data: Cannot open fact file a/b.tsv: there is no " +
                           (load.folder.path() / "a/b.tsv").string() + "; there is no folder " +
                           (load.folder.path() / "a").string() + " either");
  load.request.parameters["filename"] = ".";
  EXPECT_EQ(message(), "Error loading r data: Cannot open fact file .: Is a directory");
  load.request.missing_is_empty = true;
  EXPECT_EQ(message(), "Error loading r data: Cannot open fact file .: Is a directory");
}

TEST(facts_errors, parameters) {
  loading load({number, number});
  const auto message = [&](const std::string& key, const std::string& value) {
    load.request.parameters = {{key, value}};
    return load.error("1\t2\n");
  };
  for (const std::string wrong : {"0", "0:1:2", "0:0", "a:b", "0:", ":", "-1:0", "0:99999999999"}) {
    EXPECT_EQ(message("columns", wrong), "Error loading r data: Invalid column set was given: <" + wrong + ">");
  }
  EXPECT_EQ(message("delimiter", ""), "Error loading r data: the parameter delimiter is empty");
  EXPECT_EQ(message("delimiter", "a\n"), "Error loading r data: the parameter delimiter contains a line break");
  EXPECT_EQ(message("IO", "telegraph"), "Error loading r data: Requested input type <telegraph> is not supported.");
  EXPECT_EQ(message("columns", "5:0"),
            "Error loading r data: Values missing in line 1; cannot parse fact file r.facts!");
}

}  // namespace
}  // namespace gpulog::io
