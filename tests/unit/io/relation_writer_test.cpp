#include "io/relation_writer.hpp"

#include <sys/stat.h>
#include <zstd.h>

#include <bit>
#include <random>

#include "loading.hpp"

namespace gpulog::io {
namespace {

/// A relation with its columns, and a folder to write it to.
struct writing {
  writing() {
    request.output_directory = folder.path();
    rows.relation = "r";
  }

  void column(const std::string& name, value_kind kind, std::vector<word> words) {
    rows.rows = words.size();
    words_.push_back(std::make_unique<std::vector<word>>(std::move(words)));
    rows.columns.push_back(words_.back()->data());
    rows.kinds.push_back(kind);
    rows.attribute_names.push_back(name);
  }

  void symbol_column(const std::string& name, const std::vector<std::string>& texts) {
    std::vector<word> words;
    for (const std::string& text : texts) words.push_back(symbols.intern(text));
    column(name, symbol, std::move(words));
  }

  /// What the file holds in the end.
  std::string file(const std::string& name) {
    output_files files;
    write_relation(rows, request, symbols, files);
    EXPECT_FALSE(std::filesystem::exists(folder.path() / name));
    files.commit();
    std::string bytes = folder.read(name);
    std::filesystem::remove(folder.path() / name);
    EXPECT_EQ(folder.file_count(), 0U);
    return bytes;
  }

  std::string standard_output() {
    testing::internal::CaptureStdout();
    output_files files;
    write_relation(rows, request, symbols, files);
    EXPECT_EQ(folder.file_count(), 0U);
    return testing::internal::GetCapturedStdout();
  }

  std::string error() {
    try {
      output_files files;
      write_relation(rows, request, symbols, files);
    } catch (const error_base& problem) {
      return problem.what();
    }
    return "no error";
  }

  using error_base = gpulog::error;
  temporary_folder folder;
  relation_rows rows;
  write_request request;
  storage::symbol_table symbols;

 private:
  std::vector<std::unique_ptr<std::vector<word>>> words_;
};

TEST(relation_writer, every_kind) {
  writing out;
  out.column("a", number, {1, static_cast<word>(-7)});
  out.column("b", unsigned_number, {0, 4294967295});
  out.column("c", floating, {std::bit_cast<word>(0.1F), std::bit_cast<word>(2.0F)});
  out.symbol_column("d", {"", "x\ty\xff"});
  EXPECT_EQ(out.file("r.csv"), "1\t0\t0.100000001\t\n-7\t4294967295\t2\tx\ty\xff\n");
  out.request.parameters = {{"headers", "true"}, {"delimiter", ", "}, {"filename", "other"}};
  EXPECT_EQ(out.file("other"), "a, b, c, d\n1, 0, 0.100000001, \n-7, 4294967295, 2, x\ty\xff\n");
}

TEST(relation_writer, no_rows_and_no_columns) {
  writing out;
  EXPECT_EQ(out.file("r.csv"), "");
  out.request.parameters["headers"] = "true";
  EXPECT_EQ(out.file("r.csv"), "\n");
  out.rows.rows = 1;
  EXPECT_EQ(out.file("r.csv"), "\n()\n");
  writing empty;
  empty.column("a", number, {});
  EXPECT_EQ(empty.file("r.csv"), "");
  empty.request.parameters["headers"] = "true";
  EXPECT_EQ(empty.file("r.csv"), "a\n");
}

TEST(relation_writer, rfc4180) {
  writing out;
  out.symbol_column("a", {"plain", "a \"q\" b", "", "two\nlines"});
  out.column("b", number, {1, 2, 3, 4});
  out.request.parameters["rfc4180"] = "true";
  const std::string text = "\"plain\",1\n\"a \"\"q\"\" b\",2\n\"\",3\n\"two\nlines\",4\n";
  EXPECT_EQ(out.file("r.csv"), text);
  loading back({symbol, number});
  back.request.parameters["rfc4180"] = "true";
  EXPECT_EQ(back.run(text), 4U);
  EXPECT_EQ(back.texts(0), (std::vector<std::string>{"plain", "a \"q\" b", "", "two\nlines"}));
}

TEST(relation_writer, standard_output) {
  writing out;
  out.column("first", number, {1, 2});
  out.symbol_column("second", {"one", "two"});
  out.request.parameters["IO"] = "stdout";
  EXPECT_EQ(out.standard_output(), "---------------\nr\n===============\n1\tone\n2\ttwo\n===============\n");
  out.request.parameters = {{"IO", "stdout"}, {"headers", "true"}, {"delimiter", " | "}};
  const std::string with_headers =
      "---------------\nr\nfirst | second\n===============\n1 | one\n2 | two\n===============\n";
  EXPECT_EQ(out.standard_output(), with_headers);
  out.request.output_directory = "-";
  out.request.parameters = {{"IO", "file"}, {"delimiter", " | "}};
  EXPECT_EQ(out.standard_output(), with_headers);
  testing::internal::CaptureStdout();
  print_relation_size("r", 17);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "r\t17\n");
}

TEST(relation_writer, json) {
  writing out;
  out.column("n", number, {1, static_cast<word>(-2)});
  out.symbol_column("s", {"q\"uote\\\n\x01", "tab"});
  out.column("f", floating, {std::bit_cast<word>(0.5F), 0x7f800000});
  out.request.parameters["IO"] = "jsonfile";
  EXPECT_EQ(out.file("r.json"), "[[1, \"q\\\"uote\\\\\\n\\u0001\", 0.5],\n[-2, \"tab\", \"inf\"]]\n");
  out.request.parameters["format"] = "object";
  EXPECT_EQ(
      out.file("r.json"),
      "[{\"n\": 1, \"s\": \"q\\\"uote\\\\\\n\\u0001\", \"f\": 0.5},\n{\"n\": -2, \"s\": \"tab\", \"f\": \"inf\"}]\n");
  writing empty;
  empty.column("a", number, {});
  empty.request.parameters["IO"] = "json";
  EXPECT_EQ(empty.standard_output(), "[]\n");
}

TEST(relation_writer, the_same_with_any_threads) {
  std::mt19937 random(3);
  for (const std::uint64_t size : {0U, 1U, 31U, 32U, 33U, 100'000U}) {
    for (const std::string compress : {"false", "true", "zstd"}) {
      writing out;
      std::vector<word> numbers(size);
      std::vector<std::string> texts(size);
      std::string expected;
      for (std::uint64_t row = 0; row < size; ++row) {
        numbers[row] = static_cast<word>(random());
        texts[row] = std::string(random() % 20, 'x') + std::to_string(random() % 1000);
        expected += std::to_string(static_cast<std::int32_t>(numbers[row])) + "\t" + texts[row] + "\n";
      }
      out.column("a", number, numbers);
      out.symbol_column("b", texts);
      out.request.parameters["compress"] = compress;
      std::string first_bytes;
      for (const unsigned threads : {1U, 2U, 4U}) {
        out.request.threads = threads;
        const std::string bytes = out.file(compress == "false"  ? "r.csv"
                                           : compress == "true" ? "r.csv.gz"
                                                                : "r.csv.zst");
        if (threads == 1) first_bytes = bytes;
        ASSERT_EQ(bytes, first_bytes);
      }
      if (compress == "false") {
        ASSERT_EQ(first_bytes, expected);
        continue;
      }
      loading back({number, symbol});
      ASSERT_EQ(back.run(first_bytes), size);
      ASSERT_EQ(back.columns[0], numbers);
      ASSERT_EQ(back.texts(1), texts);
      if (size > 0 && compress == "true") {
        const auto path = (back.folder.path() / "r.facts").string();
        ASSERT_EQ(std::system(("gzip -t < " + path).c_str()), 0);
      }
    }
  }
}

TEST(relation_writer, zstd_by_the_name_of_the_file) {
  // Several of the pieces that libzstd's threads take.
  std::vector<word> numbers(2'000'000);
  std::mt19937 random(11);
  for (word& number : numbers) number = static_cast<word>(random() % 1'000'000'000);
  writing out;
  out.column("a", number, numbers);
  out.request.parameters = {{"filename", "numbers.zst"}};
  std::string first_bytes;
  for (const unsigned threads : {1U, 2U, 4U}) {
    out.request.threads = threads;
    const std::string bytes = out.file("numbers.zst");
    if (threads == 1) first_bytes = bytes;
    ASSERT_EQ(bytes, first_bytes);
  }
  // One frame, which readers take that stop behind the first.
  EXPECT_EQ(ZSTD_findFrameCompressedSize(first_bytes.data(), first_bytes.size()), first_bytes.size());
  loading back({number});
  ASSERT_EQ(back.run(first_bytes), numbers.size());
  EXPECT_EQ(back.columns[0], numbers);
  out.request.parameters["compress"] = "false";
  EXPECT_NE(out.file("numbers.zst").substr(0, 4), first_bytes.substr(0, 4));
}

TEST(relation_writer, errors) {
  writing out;
  out.column("a", number, {1});
  out.request.parameters = {{"IO", "telegraph"}};
  EXPECT_EQ(out.error(), "Error writing r data: Requested output type <telegraph> is not supported.");
  out.request.parameters = {{"rfc4180", "true"}, {"delimiter", "\""}};
  EXPECT_EQ(out.error(), "Error writing r data: a delimiter with a double quote does not go with rfc4180=true");
  out.request.parameters = {{"filename", "/dev/full"}};
  EXPECT_EQ(out.error(), "Cannot write output file /dev/full: No space left on device");
  EXPECT_EQ(out.folder.file_count(), 0U);
}

TEST(relation_writer, parameter_values_as_in_souffle) {
  writing out;
  out.column("a", number, {1});
  out.column("b", number, {2});
  out.request.parameters = {{"headers", "yes"}, {"rfc4180", "1"}};
  EXPECT_EQ(out.file("r.csv"), "1\t2\n");
  out.request.parameters = {{"delimiter", ""}};
  EXPECT_EQ(out.file("r.csv"), "12\n");
  out.request.parameters = {{"IO", "jsonfile"}, {"format", "tree"}};
  EXPECT_EQ(out.file("r.json"), "[[1, 2]]\n");
  out.request.parameters = {{"compress", "1"}};
  EXPECT_EQ(out.file("r.csv.gz").substr(0, 2), "\x1f\x8b");
}

TEST(relation_writer, a_full_disk_ends_all_threads) {
  writing out;
  out.column("a", number, std::vector<word>(1'000'000, 5));
  out.request.parameters = {{"filename", "/dev/full"}};
  for (const unsigned threads : {1U, 2U, 4U}) {
    out.request.threads = threads;
    EXPECT_EQ(out.error(), "Cannot write output file /dev/full: No space left on device");
  }
}

}  // namespace
}  // namespace gpulog::io
