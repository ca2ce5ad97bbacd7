#include "support/source.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/error.hpp"

namespace gpulog {
namespace {

TEST(source_file, finds_lines_and_columns) {
  source_manager sources;
  const source_file& file = sources.add("a/b.dl", "one\ntwo\n\nfour");
  EXPECT_EQ(file.line_count(), 4U);
  EXPECT_EQ(file.position(0).line, 1U);
  EXPECT_EQ(file.position(3).line, 1U);  // the line end belongs to its line
  EXPECT_EQ(file.position(5).line, 2U);
  EXPECT_EQ(file.position(5).column, 2U);
  EXPECT_EQ(file.position(8).line, 3U);
  EXPECT_EQ(file.line_text(8), "");
  EXPECT_EQ(file.line_text(10), "four");
  EXPECT_EQ(file.position(1000).line, 4U);
}

TEST(source_file, obeys_line_directives) {
  source_manager sources;
  source_file& file = sources.add("made.dl", "a\n# 10 \"x.dl\"\nb\nc\n#line 3\nd\n");
  file.add_line_directive(2, 10, "x.dl");
  file.add_line_directive(18, 3, "");
  EXPECT_EQ(file.position(0).path, "made.dl");
  EXPECT_EQ(file.position(14).path, "x.dl");
  EXPECT_EQ(file.position(14).line, 10U);
  EXPECT_EQ(file.position(16).line, 11U);
  EXPECT_EQ(file.position(26).line, 3U);
  EXPECT_EQ(file.position(26).path, "x.dl");
  EXPECT_EQ(file.physical_line(26), 6U);
}

TEST(source_span, prints_and_joins) {
  source_manager sources;
  const source_file& file = sources.add("d/p.dl", "a(x) :-\n b(x).\n");
  const source_file& other = sources.add("q.dl", "");
  EXPECT_EQ(to_string(source_span{&file, 0, 14}), "p.dl [1:1-2:7]");
  EXPECT_EQ(to_string(source_span{}), "");
  EXPECT_EQ(join({&file, 2, 3}, {&file, 9, 11}), (source_span{&file, 2, 11}));
  EXPECT_EQ(join({&file, 2, 3}, {&other, 0, 0}), (source_span{&file, 2, 3}));
  EXPECT_TRUE(comes_before({&file, 2, 3}, {&file, 9, 11}));
  EXPECT_TRUE(comes_before({&file, 9, 11}, {&other, 0, 0}));
  EXPECT_FALSE(comes_before({&file, 2, 3}, {}));
}

TEST(source_manager, loads_files_or_says_which) {
  const std::string path = testing::TempDir() + "gpulog_source_test.dl";
  std::ofstream(path) << "text\n";
  source_manager sources;
  EXPECT_EQ(sources.load(path).text(), "text\n");
  std::filesystem::remove(path);
  const std::string folder = testing::TempDir();
  const std::pair<std::string, std::string> bad[] = {{path, path}, {folder, folder + ": it is a folder"}};
  for (const auto& [name, said] : bad) {
    try {
      (void)sources.load(name);
      FAIL() << name;
    } catch (const user_error& error) {
      EXPECT_EQ(std::string(error.what()), "Cannot open file " + said);
    }
  }
}

TEST(ensure, names_the_place) {
  EXPECT_NO_THROW(ensure(true, "holds"));
  const int line = __LINE__ + 2;
  try {
    ensure(false, "one is one");
    FAIL();
  } catch (const internal_error& error) {
    EXPECT_EQ(std::string(error.what()),
              "internal error: one is one (" + std::string(__FILE__) + ":" + std::to_string(line) + ")");
  }
}

}  // namespace
}  // namespace gpulog
