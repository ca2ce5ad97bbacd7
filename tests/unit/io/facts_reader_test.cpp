#include "io/facts_reader.hpp"

#include <fcntl.h>

#include <bit>
#include <random>
#include <thread>

#include "compressed.hpp"
#include "io/files/compression.hpp"
#include "loading.hpp"

namespace gpulog::io {
namespace {

using texts = std::vector<std::string>;

TEST(facts_reader, every_kind) {
  loading load({number, unsigned_number, floating, symbol});
  EXPECT_EQ(load.run("1\t2\t0.5\ta b\n-7\t0xff\t-0.0\t\n2147483647\t4294967295\t1e3\t\xc3\xa9\n"), 3U);
  EXPECT_EQ(load.columns[0], (std::vector<word>{1, static_cast<word>(-7), 2147483647}));
  EXPECT_EQ(load.columns[1], (std::vector<word>{2, 255, 4294967295}));
  EXPECT_EQ(load.columns[2], (std::vector<word>{std::bit_cast<word>(0.5F), 0, std::bit_cast<word>(1000.0F)}));
  EXPECT_EQ(load.texts(3), (texts{"a b", "", "\xc3\xa9"}));
}

TEST(facts_reader, unread_texts_are_not_stored) {
  loading load({symbol, number, symbol});
  load.request.unread_texts = {true, false, false};
  EXPECT_EQ(load.run("a\t1\tx\nb\t2\tx\nc\t3\ty\n"), 3U);
  EXPECT_EQ(load.columns[0], (std::vector<word>{0, 0, 0}));
  EXPECT_EQ(load.columns[1], (std::vector<word>{1, 2, 3}));
  EXPECT_EQ(load.texts(2), (texts{"x", "x", "y"}));
  EXPECT_EQ(load.symbols.size(), 2U);
  load.request.parameters = {{"rfc4180", "true"}};
  EXPECT_EQ(load.run("\"a\"\"b\",1,\"x\"\nb,2,z\n"), 2U);
  EXPECT_EQ(load.columns[0], (std::vector<word>{0, 0}));
  EXPECT_EQ(load.texts(2), (texts{"x", "z"}));
  load.request.parameters = {{"columns", "1:0:2"}};
  EXPECT_EQ(load.run("1\ta\tx\n"), 1U);
  EXPECT_EQ(load.columns, (column_words{{0}, {1}, {0}}));
  EXPECT_EQ(load.symbols.size(), 3U);
}

TEST(facts_reader, line_ends) {
  for (const char* text :
       {"1\t2\n3\t4\n", "1\t2\n3\t4", "1\t2\r\n3\t4\r\n", "1\t2\r\n3\t4\r", "1\t2\tx\ty\n3\t4\t\n"}) {
    loading load({number, number});
    EXPECT_EQ(load.run(text), 2U) << text;
    EXPECT_EQ(load.columns, (column_words{{1, 3}, {2, 4}})) << text;
  }
}

TEST(facts_reader, nothing_there) {
  loading load({number});
  EXPECT_EQ(load.run(""), 0U);
  EXPECT_EQ(load.run(gzipped("")), 0U);
  std::filesystem::remove(load.folder.path() / "r.facts");
  load.request.missing_is_empty = true;
  EXPECT_EQ(load.run(), 0U);
}

TEST(facts_reader, sizes_are_told_before_rows) {
  const std::string text = "1\n2\n3\n";
  for (const std::string& bytes : {text, gzipped(text)}) {
    loading load({number});
    std::uint64_t told = 0;
    load.request.on_size = [&](std::uint64_t size) {
      EXPECT_TRUE(load.columns[0].empty());
      told = size;
    };
    EXPECT_EQ(load.run(bytes), 3U);
    EXPECT_EQ(told, bytes == text ? bytes.size() : 4 * bytes.size());
  }
}

TEST(facts_reader, nullary) {
  loading load({});
  EXPECT_EQ(load.run("()\n"), 1U);
  EXPECT_EQ(load.run("()"), 1U);
  EXPECT_EQ(load.run(""), 0U);
}

TEST(facts_reader, strange_lines) {
  loading load({symbol, symbol});
  const std::string long_text(10'000'000, 'x');
  EXPECT_EQ(load.run(std::string("a\0b\t\n", 5) + long_text + "\t" + std::string("c\0d", 3) + "\n\t\n"), 3U);
  EXPECT_EQ(load.texts(0), (texts{std::string("a\0b", 3), long_text, ""}));
  EXPECT_EQ(load.texts(1), (texts{"", std::string("c\0d", 3), ""}));
}

TEST(facts_reader, a_thousand_columns) {
  loading load(std::vector<value_kind>(1000, number));
  std::string line;
  for (int column = 0; column < 1000; ++column) line += (column == 0 ? "" : "\t") + std::to_string(column);
  EXPECT_EQ(load.run(line + "\n" + line), 2U);
  EXPECT_EQ(load.columns[999], (std::vector<word>{999, 999}));
}

TEST(facts_reader, filename_and_delimiters) {
  loading load({symbol, number});
  load.request.parameters = {{"filename", "other.txt"}, {"delimiter", "|"}, {"IO", "file"}};
  load.folder.write("other.txt", "a b|3\n|-4\n");
  EXPECT_EQ(load.run(), 2U);
  EXPECT_EQ(load.texts(0), (texts{"a b", ""}));
  load.request.parameters = {{"delimiter", " => "}};
  EXPECT_EQ(load.run("x => 1\n = => 2\r\n"), 2U);
  EXPECT_EQ(load.texts(0), (texts{"x", " ="}));
  load.request.parameters = {{"delimiter", ","}};
  EXPECT_EQ(load.run("[1,[2,3]],4,5\nx,6\n"), 2U);
  EXPECT_EQ(load.texts(0), (texts{"[1,[2,3]]", "x"}));
  EXPECT_EQ(load.columns[1], (std::vector<word>{4, 6}));
  load.request.kinds = {number, number};
  load.request.parameters = {{"delimiter", "0"}};
  EXPECT_EQ(load.run("102\n"), 1U);
  EXPECT_EQ(load.columns, (column_words{{1}, {2}}));
}

TEST(facts_reader, absolute_filename) {
  loading load({number});
  load.folder.write("x", "5\n");
  load.request.parameters["filename"] = (load.folder.path() / "x").string();
  load.request.fact_directory = "/nowhere";
  EXPECT_EQ(load.run(), 1U);
}

TEST(facts_reader, columns_in_attribute_order) {
  loading load({symbol, number});
  load.request.parameters["columns"] = "2:0";
  EXPECT_EQ(load.run("10\tskipped\tann\n5\t\tbo\tmore\n"), 2U);
  EXPECT_EQ(load.texts(0), (texts{"ann", "bo"}));
  EXPECT_EQ(load.columns[1], (std::vector<word>{10, 5}));
}

TEST(facts_reader, symbols_are_numbered_in_the_order_of_the_text) {
  loading load({symbol, symbol});
  load.request.parameters["columns"] = "1:0";
  load.run("b\ta\nc\tb\n");
  EXPECT_EQ(load.columns, (column_words{{1, 0}, {0, 2}}));
}

TEST(facts_reader, headers) {
  loading load({number});
  load.request.parameters["headers"] = "true";
  EXPECT_EQ(load.run("name\n1\n2\n"), 2U);
  EXPECT_EQ(load.columns, (column_words{{1, 2}}));
  EXPECT_EQ(load.run("name"), 0U);
  EXPECT_EQ(load.run(gzipped("name\n7\n")), 1U);
  EXPECT_EQ(load.columns, (column_words{{7}}));
}

TEST(facts_reader, rfc4180) {
  loading load({symbol, symbol, number});
  load.request.parameters["rfc4180"] = "true";
  const std::string text =
      "simple,wo\"rd,1\n\"a, b\",\"c \"\"quoted\"\" d\",\"2\"\n\"two\nlines\",x,3,\"more\n\"\n\"\",\"\"\"\",4\r\n,,5";
  EXPECT_EQ(load.run(text), 5U);
  EXPECT_EQ(load.texts(0), (texts{"simple", "a, b", "two\nlines", "", ""}));
  EXPECT_EQ(load.texts(1), (texts{"wo\"rd", "c \"quoted\" d", "x", "\"", ""}));
  EXPECT_EQ(load.columns[2], (std::vector<word>{1, 2, 3, 4, 5}));
  load.request.parameters["delimiter"] = "; ";
  EXPECT_EQ(load.run("\"a; b\"; c; 6\n"), 1U);
  EXPECT_EQ(load.texts(0), (texts{"a; b"}));
}

TEST(facts_reader, gzip) {
  loading load({number});
  EXPECT_EQ(load.run(gzipped("1\n2\n")), 2U);
  EXPECT_EQ(load.columns, (column_words{{1, 2}}));
  // Several members, whose ends are anywhere in a line, and padding.
  EXPECT_EQ(load.run(gzipped("1\n2") + gzipped("") + gzipped("3\n4\n") + std::string(100, '\0')), 3U);
  EXPECT_EQ(load.columns, (column_words{{1, 23, 4}}));
}

TEST(facts_reader, zstd) {
  loading load({number});
  EXPECT_EQ(load.run(zstd_compressed("1\n2\n")), 2U);
  EXPECT_EQ(load.columns, (column_words{{1, 2}}));
  EXPECT_EQ(load.run(zstd_compressed("")), 0U);
  // Several frames, one of them to be skipped, whose ends are anywhere in a line.
  const std::string skipped("\x5e\x2a\x4d\x18\x03\0\0\0abc", 11);
  const std::string whole =
      skipped + zstd_compressed("1\n2") + zstd_compressed("") + skipped + zstd_compressed("3\n4\n");
  EXPECT_EQ(load.run(whole), 3U);
  EXPECT_EQ(load.columns, (column_words{{1, 23, 4}}));
  // More than the buffers hold, before and after decompression.
  std::string text;
  std::vector<word> expected;
  std::mt19937 random(5);
  for (std::size_t line = 0; line < 300'000; ++line) {
    expected.push_back(static_cast<word>(random() % (line < 100'000 ? 3 : 1'000'000'000)));
    text += std::to_string(expected.back()) + "\n";
  }
  for (const unsigned threads : {1U, 2U, 4U}) {
    load.request.threads = threads;
    EXPECT_EQ(load.run(zstd_compressed(text)), expected.size());
    EXPECT_EQ(load.columns[0], expected);
  }
}

TEST(facts_reader, standard_input_and_pipes) {
  for (const bool compressed : {false, true}) {
    loading load({number, symbol});
    load.request.parameters["IO"] = "stdin";
    std::string text = "1\ta\n2\tb\n";
    if (compressed) text = gzipped(text);
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    ASSERT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    ::close(ends[1]);
    const int saved = ::dup(STDIN_FILENO);
    ::dup2(ends[0], STDIN_FILENO);
    ::close(ends[0]);
    EXPECT_EQ(load.run(), 2U);
    EXPECT_EQ(load.texts(1), (texts{"a", "b"}));
    EXPECT_EQ(load.run(), 0U);  // has been read
    ::dup2(saved, STDIN_FILENO);
    ::close(saved);
  }
}

std::string compressed_as(compression how, const std::string& text) {
  if (how == compression::none) return text;
  return how == compression::gzip ? gzipped(text) : zstd_compressed(text);
}

/// Random lines with symbols that repeat, of all kinds of length.
std::string random_lines(std::size_t lines, const std::string& delimiter, bool quoted, unsigned seed) {
  std::mt19937 random(seed);
  std::string text;
  for (std::size_t line = 0; line < lines; ++line) {
    const std::string first = "s" + std::to_string(random() % 500);
    const std::string second = std::string(random() % 90, 'y') + std::to_string(random() % 900);
    text += quoted && random() % 3 == 0 ? "\"" + first + "\n, \"\" \"" : first;
    text += delimiter + std::to_string(random() % 1000) + delimiter + second + "\n";
  }
  return text;
}

TEST(facts_reader, the_same_with_any_threads_and_pieces) {
  for (const bool quoted : {false, true}) {
    for (const compression how : {compression::none, compression::gzip, compression::zstd}) {
      for (const std::size_t lines : {0U, 1U, 31U, 32U, 33U, 3000U}) {
        loading load({symbol, number, symbol});
        if (quoted) load.request.parameters["rfc4180"] = "true";
        const std::string text = random_lines(lines, quoted ? "," : "\t", quoted, 7);
        load.folder.write("r.facts", compressed_as(how, text));
        ASSERT_EQ(load.run(), lines);
        for (const unsigned threads : {1U, 2U, 4U}) {
          for (const std::size_t piece : {std::size_t{1}, std::size_t{100}, std::size_t{5000}}) {
            if (piece == 1 && lines > 100) continue;
            loading other({symbol, number, symbol});
            other.request = load.request;
            other.request.threads = threads;
            other.request.piece_bytes = piece;
            ASSERT_EQ(other.run(), lines);
            ASSERT_EQ(other.columns, load.columns);
            ASSERT_EQ(other.symbols.size(), load.symbols.size());
            for (word id = 0; id < load.symbols.size(); ++id) ASSERT_EQ(other.symbols.text(id), load.symbols.text(id));
          }
        }
      }
    }
  }
}

TEST(facts_reader, unusual_numbers_in_many_pieces) {
  std::string text;
  std::vector<word> expected;
  for (word value = 0; value < 2000; ++value) {
    text += (value % 7 == 0 ? "+" : "") + std::to_string(value) + (value % 5 == 0 ? "\r\n" : "\n");
    expected.push_back(value);
  }
  for (const unsigned threads : {1U, 2U, 4U}) {
    loading load({number});
    load.request.threads = threads;
    load.request.piece_bytes = 64;
    EXPECT_EQ(load.run(text), 2000U);
    EXPECT_EQ(load.columns[0], expected);
  }
}

}  // namespace
}  // namespace gpulog::io
