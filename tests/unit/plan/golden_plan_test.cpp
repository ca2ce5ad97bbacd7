#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "plan/explain.hpp"
#include "plan/validate.hpp"
#include "plan_from_text.hpp"

namespace gpulog::plan {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// tests/plans/NAME.dl and its plan as printed, NAME.plan. GPULOG_UPDATE_PLANS=1 writes the plans anew.
TEST(golden_plan, plans_are_as_stored) {
  std::vector<std::filesystem::path> programs;
  for (const auto& entry : std::filesystem::directory_iterator(GPULOG_TEST_DATA "/plans")) {
    if (entry.path().extension() == ".dl") programs.push_back(entry.path());
  }
  ASSERT_FALSE(programs.empty());
  for (const std::filesystem::path& path : programs) {
    SCOPED_TRACE(path.filename());
    const analysed_text analysed = analyse_text(read_file(path), path.filename().string());
    const program plan = make_plan(analysed.program);
    EXPECT_EQ(validate(plan), std::vector<std::string>());
    std::filesystem::path expected = path;
    expected.replace_extension(".plan");
    if (std::getenv("GPULOG_UPDATE_PLANS") != nullptr) std::ofstream(expected) << explain(plan);
    EXPECT_EQ(explain(plan), read_file(expected));
  }
}

}  // namespace
}  // namespace gpulog::plan
