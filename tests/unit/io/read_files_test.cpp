#include <gtest/gtest.h>
#include <sys/stat.h>

#include <memory>
#include <random>

#include "compressed.hpp"
#include "loading.hpp"

namespace gpulog::io {
namespace {

constexpr std::size_t file_count = 20;

/// Files that are read beside each other, and their columns.
struct several_files {
  several_files(const temporary_folder& folder, unsigned threads, std::size_t piece_bytes) : columns(file_count) {
    for (std::size_t i = 0; i < file_count; ++i) {
      facts_file& file = files.emplace_back();
      file.request.relation = "r" + std::to_string(i);
      file.request.fact_directory = folder.path();
      file.request.kinds = {symbol, number, symbol};
      file.request.threads = threads;
      file.request.piece_bytes = piece_bytes;
      if (i % 5 == 1) file.request.parameters = {{"rfc4180", "true"}, {"delimiter", "\t"}};
      if (i % 5 == 2) file.request.parameters = {{"headers", "true"}};
      file.allocate = [this, i](std::uint64_t rows) {
        std::vector<word*> pointers;
        columns[i].clear();
        for (std::size_t column = 0; column < 3; ++column) columns[i].emplace_back(*memory, rows);
        for (auto& column : columns[i]) pointers.push_back(column.data());
        return pointers;
      };
    }
  }
  void limit_memory(backend::memory_resource& limited) {
    memory = &limited;
    for (facts_file& file : files) file.request.memory = &limited;
  }
  void run() {
    if (files.front().request.threads > 1) return read_files(files, symbols);
    for (facts_file& file : files) {
      read_files({&file, 1}, symbols);
      if (file.failure) return;
    }
  }
  [[nodiscard]] std::size_t first_failed() const {
    std::size_t number = 0;
    while (number < file_count && !files[number].failure) ++number;
    return number;
  }
  [[nodiscard]] std::string error() const {
    try {
      std::rethrow_exception(files[first_failed()].failure);
    } catch (const user_error& problem) {
      return problem.what();
    }
  }
  [[nodiscard]] std::vector<word> words(std::size_t file, std::size_t column) const {
    const auto& words = columns[file][column];
    return {words.begin(), words.end()};
  }

  backend::memory_resource* memory = &backend::unlimited_memory();
  std::vector<facts_file> files;
  std::vector<std::vector<backend::array<word>>> columns;
  storage::symbol_table symbols;
};

/// Rows whose symbols repeat in a file and in other files.
std::string random_rows(std::size_t rows, unsigned seed) {
  std::mt19937 random(seed);
  std::string text;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::string second(random() % 90, static_cast<char>('a' + random() % 3));
    text += "s" + std::to_string(random() % 900) + "\t" + std::to_string(row) + "\t" + second + "\n";
  }
  return text;
}

void write_files(const temporary_folder& folder, std::size_t largest) {
  for (unsigned i = 0; i < file_count; ++i) {
    const std::string text = random_rows(i % 7 == 6 ? 0 : largest * (i + 1) / file_count, i);
    const std::string name = "r" + std::to_string(i) + ".facts";
    folder.write(name, i % 3 == 0 ? gzipped(text) : i % 3 == 1 ? text : zstd_compressed(text));
  }
}

void expect_equal(const several_files& files, const several_files& expected) {
  for (std::size_t i = 0; i < file_count; ++i) {
    ASSERT_EQ(files.files[i].failure, nullptr);
    ASSERT_EQ(files.files[i].rows, expected.files[i].rows) << i;
    if (expected.files[i].rows == 0) continue;
    for (std::size_t column = 0; column < 3; ++column) {
      ASSERT_EQ(files.words(i, column), expected.words(i, column)) << i;
    }
  }
  ASSERT_EQ(files.symbols.size(), expected.symbols.size());
  for (word id = 0; id < expected.symbols.size(); ++id) {
    ASSERT_EQ(files.symbols.text(id), expected.symbols.text(id));
    ASSERT_EQ(files.symbols.find(expected.symbols.text(id)), id);
  }
}

TEST(read_files, outcomes_of_one_after_another) {
  for (const std::size_t largest : {1U, 33U, 3000U}) {
    const temporary_folder folder;
    write_files(folder, largest);
    several_files expected(folder, 1, 1 << 20);
    expected.run();
    for (const unsigned threads : {2U, 3U, 8U}) {
      for (const std::size_t piece : {std::size_t{100}, std::size_t{5000}, std::size_t{1} << 20}) {
        several_files files(folder, threads, piece);
        files.run();
        expect_equal(files, expected);
      }
    }
  }
}

TEST(read_files, the_first_failure_in_program_order) {
  const temporary_folder folder;
  write_files(folder, 3000);
  std::string faulty = random_rows(2000, 77);
  for (std::size_t line = 100; line < 2000; line += 100) {
    faulty.replace(faulty.find("\t" + std::to_string(line) + "\t"), 2, "\tx");
  }
  const std::string cut = gzipped(random_rows(3000, 5));
  for (const bool compressed : {false, true}) {
    folder.write("r6.facts", compressed ? gzipped(faulty) : faulty);
    folder.write("r9.facts", cut.substr(0, cut.size() / 2));
    folder.write("r19.facts", faulty);
    several_files expected(folder, 1, 3000);
    expected.run();
    ASSERT_EQ(expected.first_failed(), 6U);
    ASSERT_TRUE(expected.error().starts_with(
        "Error loading r6 data: Error converting <x00> in column 2 in line 101; cannot parse fact file r6.facts!\n"))
        << expected.error();
    for (const unsigned threads : {2U, 8U}) {
      several_files files(folder, threads, 3000);
      files.run();
      EXPECT_EQ(files.first_failed(), 6U);
      EXPECT_EQ(files.error(), expected.error());
      for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(files.files[i].rows, expected.files[i].rows);
    }
  }
}

TEST(read_files, a_missing_file_is_a_failure_or_empty) {
  const temporary_folder folder;
  write_files(folder, 50);
  std::filesystem::remove(folder.path() / "r7.facts");
  std::filesystem::remove(folder.path() / "r8.facts");
  several_files files(folder, 4, 100);
  files.run();
  EXPECT_EQ(files.first_failed(), 7U);
  EXPECT_EQ(files.error(), "Error loading r7 data: Cannot open fact file r7.facts: there is no " +
                               (folder.path() / "r7.facts").string());
  several_files expected(folder, 1, 100);
  several_files empty(folder, 4, 100);
  for (several_files* const each : {&expected, &empty}) {
    for (facts_file& file : each->files) file.request.missing_is_empty = true;
    each->run();
  }
  EXPECT_EQ(expected.files[7].rows, 0U);
  expect_equal(empty, expected);
}

TEST(read_files, memory_of_one_after_another_is_enough) {
  const temporary_folder folder;
  write_files(folder, 3000);
  backend::host_memory one_by_one;
  several_files expected(folder, 1, 1000);
  expected.limit_memory(one_by_one);
  expected.run();
  backend::host_memory limited;
  limited.set_limit(one_by_one.peak());
  several_files files(folder, 8, 1000);
  files.limit_memory(limited);
  files.run();
  expect_equal(files, expected);
  backend::host_memory little;
  little.set_limit(one_by_one.peak() / 2);
  several_files failing(folder, 8, 1000);
  failing.limit_memory(little);
  failing.run();
  ASSERT_LT(failing.first_failed(), file_count);
  EXPECT_THROW(std::rethrow_exception(failing.files[failing.first_failed()].failure), backend::memory_exceeded);
}

TEST(read_files, beside_others) {
  loading load({number});
  load.folder.write("r.facts", "1\n");
  EXPECT_TRUE(is_read_beside_others(load.request));
  load.request.parameters = {{"IO", "stdin"}};
  EXPECT_FALSE(is_read_beside_others(load.request));
  load.request.parameters = {{"IO", "jsonfile"}, {"filename", "r.facts"}};
  EXPECT_FALSE(is_read_beside_others(load.request));
  const auto pipe = load.folder.path() / "pipe.facts";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  load.request.parameters = {{"filename", "pipe.facts"}};
  EXPECT_FALSE(is_read_beside_others(load.request));
}

}  // namespace
}  // namespace gpulog::io
