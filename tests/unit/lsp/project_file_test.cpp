#include "lsp/workspace/project_file.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace gpulog::lsp {
namespace {

using texts = std::vector<std::string>;

TEST(project_file, values) {
  const project_values parsed =
      parse_project_file("a = \"x\\\"\\\\y\"\r\n\n# b = 1\nb-c=['1','#2' ,\n# inner\n\"3\",]# end\nd = [ ]");
  EXPECT_EQ(parsed.problem, "");
  EXPECT_EQ(parsed.values, (std::map<std::string, texts>{{"a", {"x\"\\y"}}, {"b-c", {"1", "#2", "3"}}, {"d", {}}}));
  EXPECT_EQ(parse_project_file("").values.size(), 0U);
  EXPECT_EQ(parse_project_file("# only").problem, "");
}

TEST(project_file, problems) {
  for (const char* text : {"a", "a =", "a = 1", "a = \"x", "a = 'x' y", "a = [", "a = ['x' 'y']", "= 'x'", "[table]",
                           "a = \"\\n\"", "a = \"\\", "a = ['x'", "a = 'x\n'"}) {
    EXPECT_EQ(parse_project_file(text).problem, "line 1 is not NAME = \"TEXT\" or NAME = [\"TEXT\", ...]") << text;
  }
  EXPECT_EQ(parse_project_file("a = 'x'\n\n?").problem, "line 3 is not NAME = \"TEXT\" or NAME = [\"TEXT\", ...]");
  EXPECT_EQ(parse_project_file("a = 'x'\n?").values.size(), 1U);
}

TEST(project_file, random_texts) {
  const std::string bytes = "ab=\"'[],#\\\n \r\xff";
  std::mt19937 random(3);
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (std::size_t length = random() % 30; length > 0; --length) text += bytes[random() % bytes.size()];
    static_cast<void>(parse_project_file(text));
  }
}

}  // namespace
}  // namespace gpulog::lsp
