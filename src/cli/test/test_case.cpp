#include "cli/test/test_case.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "gpulog/error.hpp"

namespace gpulog::cli {
namespace {

namespace fs = std::filesystem;

std::string folder_or_nothing(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored) ? path.string() : std::string();
}

test_case case_of_file(const fs::path& file) {
  const std::string path = file.lexically_normal().string();
  const std::string stem(
      path.substr(0, path.size() - (path.ends_with(test_file_ending) ? test_file_ending.size() : 0)));
  return {path, path, folder_or_nothing(stem + ".facts"), {}};
}

bool is_case(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / "program.dl", ignored) && fs::is_directory(folder / "expected", ignored);
}

test_case case_of_folder(const fs::path& path) {
  const fs::path folder = path.lexically_normal();
  return {folder.string(), (folder / "program.dl").string(), folder_or_nothing(folder / "facts"),
          (folder / "expected").string()};
}

void search(const fs::path& folder, std::vector<test_case>& found) {
  if (is_case(folder)) return found.push_back(case_of_folder(folder));
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) {
    std::error_code ignored;
    const bool is_folder = fs::is_directory(fs::symlink_status(path, ignored));
    if (path.filename().string().starts_with('.')) continue;
    if (is_folder) search(path, found);
    if (!is_folder && path.string().ends_with(test_file_ending)) found.push_back(case_of_file(path));
  }
}

}  // namespace

std::vector<test_case> find_tests(const std::vector<std::string>& paths) {
  std::vector<test_case> found;
  for (const std::string& path : paths) {
    const std::size_t before = found.size();
    std::error_code ignored;
    if (!fs::exists(path, ignored)) throw input_error(fmt::format("Cannot open file {}", path));
    if (fs::is_directory(path, ignored)) {
      search(path, found);
    } else {
      found.push_back(case_of_file(path));
    }
    if (found.size() == before)
      throw input_error(fmt::format("Folder {} has neither a file NAME{} nor a folder with program.dl and expected",
                                    path, test_file_ending));
  }
  return found;
}

}  // namespace gpulog::cli
