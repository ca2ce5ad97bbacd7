#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpulog::cli {

inline constexpr std::string_view test_file_ending = ".test.dl";

/// A file with expectations, or a folder with a program, its facts and its expected outputs.
struct test_case {
  std::string name;     ///< the path of the file or folder
  std::string program;  ///< the path of the program
  std::string facts;    ///< folder of the fact files; empty: no file is read
  std::string outputs;  ///< folder of the expected outputs; empty: no output is compared

  [[nodiscard]] bool is_folder() const { return name != program; }
};

/// Returns the tests that the paths name, sorted in each folder.
/// @param paths test files, folders of one test, and folders that are searched for both
/// @throws input_error for a path without tests
[[nodiscard]] std::vector<test_case> find_tests(const std::vector<std::string>& paths);

}  // namespace gpulog::cli
