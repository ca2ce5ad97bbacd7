#include "cli/test/output_check.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "cli/test/coverage.hpp"
#include "cli/test/line_difference.hpp"
#include "gpulog/engine.hpp"
#include "gpulog/error.hpp"

namespace gpulog::cli {
namespace {

namespace fs = std::filesystem;

/// The name of the expected standard output.
constexpr const char* standard_output = "stdout";

void redirect_standard_output(const fs::path& path) {
  constexpr int mode = 0600;
  std::fflush(stdout);
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, mode);
  if (file < 0 || ::dup2(file, STDOUT_FILENO) < 0) throw output_error("Cannot write to " + path.string());
  ::close(file);
}

std::string file_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Returns the lines of a file, or the rows of a JSON file.
std::vector<std::string> output_lines(const fs::path& path) {
  const std::string text = file_bytes(path);
  std::vector<std::string> lines;
  const nlohmann::json rows =
      path.extension() == ".json" ? nlohmann::json::parse(text, nullptr, false) : nlohmann::json();
  if (rows.is_array()) {
    for (const nlohmann::json& row : rows) lines.push_back(row.dump());
    return lines;
  }
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    names.insert(entry.path().filename().string());
  return names;
}

/// Runs the program and writes its outputs into the folder, standard output included.
/// @return whether the run succeeded
bool run_outputs(const test_case& test, const arguments& given, const test_options& options, const fs::path& outputs,
                 test_result& result) {
  compile_options compile = given.compile;
  compile.expects_output = false;
  const program source = program::from_file(test.program, compile);
  if (!source.ok()) {
    result.fail(test.program, "The program has errors", source.report());
    return false;
  }
  run_options run_with = given.run;
  if (options.coverage) prepare_coverage(run_with);
  redirect_standard_output(outputs / standard_output);
  engine run(source, run_with);
  try {
    run.run();
  } catch (const cancelled_error&) {
    const auto& step = run.figures().outcome.step;
    throw cancelled_error(step ? to_text(*step) : std::string());
  } catch (const std::exception& failure) {
    result.fail(test.program, "The run failed", failure.what());
    return false;
  }
  std::fflush(stdout);
  if (options.coverage) add_coverage(source, run.figures(), {}, result.rules);
  return true;
}

}  // namespace

void check_outputs(const test_case& test, const arguments& given, const test_options& options,
                   const std::string& scratch, test_result& result) {
  if (!run_outputs(test, given, options, scratch, result)) return;
  const fs::path expected = test.outputs, actual = scratch;
  if (fs::is_empty(actual / standard_output)) fs::remove(actual / standard_output);
  std::set<std::string> names = names_in(expected);
  names.merge(names_in(actual));
  for (const std::string& name : names) {
    test_point point{(expected / name).string(), 0, name, {}, {}};
    const bool is_written = fs::exists(actual / name), is_expected = fs::exists(expected / name);
    const line_difference difference(output_lines(expected / name), output_lines(actual / name));
    if (!is_written || !is_expected) {
      point.fault =
          is_expected ? "The run does not write this output" : "The run writes an output that is not expected";
    } else if (!difference.empty()) {
      point.fault = "The output has " + difference.summary("line");
    }
    if (!point.fault.empty()) point.detail = difference.text();
    if (options.update && !point.fault.empty()) {
      point.fault.clear();
      ++result.updated;
      if (is_written) fs::copy_file(actual / name, expected / name, fs::copy_options::overwrite_existing);
      if (!is_written) fs::remove(expected / name);
    }
    result.points.push_back(std::move(point));
  }
  if (names.empty()) result.points.push_back({test.program, 0, "program.dl", {}, {}});
}

}  // namespace gpulog::cli
