#include "cli/test/test_command.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/interrupt.hpp"
#include "cli/subcommands.hpp"
#include "cli/test/expectation_check.hpp"
#include "cli/test/output_check.hpp"
#include "cli/test/test_processes.hpp"
#include "cli/test/test_report.hpp"
#include "gpulog/error.hpp"
#include "io/files/output_files.hpp"

namespace gpulog::cli {
namespace {

namespace fs = std::filesystem;

constexpr double longest_timeout = 1e9;  ///< seconds

struct test_arguments {
  std::vector<std::string> paths = {"."};
  std::vector<std::string> run_options;  ///< after `--`
  std::string junit_file;
  std::size_t jobs = std::max(1U, std::thread::hardware_concurrency());
  double timeout = 60;
  test_options options;
};

/// @param words options of a run
/// @return nothing for invalid options, about which a message was printed
std::optional<arguments> parsed_options(std::vector<std::string> words, const std::string& program) {
  words.insert(words.begin(), "gpulog");
  words.push_back(program);
  std::vector<char*> texts;
  for (std::string& word : words) texts.push_back(word.data());
  return parse_arguments(static_cast<int>(texts.size()), texts.data(), std::nullopt).parsed;
}

/// Returns the options of a run of the test: of the command line, and of the file `options` in the test's folder.
arguments options_of(const test_case& test, const test_arguments& given, const fs::path& scratch) {
  std::vector<std::string> words = given.run_options;
  if (test.is_folder()) {
    std::ifstream file(fs::path(test.name) / "options");
    words.insert(words.end(), std::istream_iterator<std::string>(file), {});
  }
  std::optional<arguments> parsed = parsed_options(words, test.program);
  if (!parsed) throw input_error("The options of this test are invalid");
  for (const auto& [folder, pragma, option] : {std::tuple("facts", "fact-dir", &parsed->run.fact_directory),
                                               std::tuple("outputs", "output-dir", &parsed->run.output_directory)}) {
    *option = (scratch / folder).string();
    fs::create_directory(*option);
    if (pragma == std::string_view("fact-dir") && !test.facts.empty()) *option = test.facts;
    parsed->compile.pragmas.emplace_back(pragma, *option);
  }
  parsed->run.output_to_stdout = false;
  parsed->run.cancelled = &cancel_requested;
  return std::move(*parsed);
}

test_result run_test(const test_case& test, const test_arguments& given, const std::string& scratch) {
  test_result result;
  const arguments parsed = options_of(test, given, scratch);
  const bool has_run = check_expectations(test, parsed, given.options, result);
  if (has_run && test.is_folder()) check_outputs(test, parsed, given.options, parsed.run.output_directory, result);
  return result;
}

}  // namespace

int test_programs(int count, char** texts) {
  test_arguments given;
  char** const end = std::find(texts, texts + count, std::string_view("--"));
  if (end != texts + count) given.run_options.assign(end + 1, texts + count);
  CLI::App app("Runs tests: files NAME.test.dl with expected tuples in comments, or folders with expected outputs.",
               "gpulog test");
  app.set_help_flag("-h,--help", "print this text");
  app.add_option("paths", given.paths,
                 "test files, and folders that are searched (. by default); -- OPTION... for runs");
  app.add_option("-j,--jobs", given.jobs, "number of concurrent tests (default: one per processor)")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  app.add_option("--timeout", given.timeout, "seconds after which a test fails (60 by default)")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber);
  app.add_option("--junit", given.junit_file, "write the results as JUnit XML")->type_name("FILE");
  app.add_flag("--coverage", given.options.coverage, "list the rules that derived no tuple in any test");
  app.add_flag("--update", given.options.update, "replace expected counts, sets and outputs that differ");
  if (!parse_options(app, static_cast<int>(end - texts), texts)) return 0;
  const std::vector<test_case> tests = find_tests(given.paths);
  if (!parsed_options(given.run_options, tests.front().program)) return 1;
  const auto report = [](const test_case&, const test_result& result) {
    fmt::print("{}", failures_text(result));
    std::fflush(stdout);
  };
  const std::vector<test_result> results = run_tests(
      tests, given.jobs, std::min(given.timeout, longest_timeout),
      [&given](const test_case& test, const std::string& scratch) { return run_test(test, given, scratch); }, report);
  if (given.options.coverage) fmt::print("{}", coverage_text(results));
  fmt::print("{}", summary_text(results));
  if (!given.junit_file.empty()) io::write_file(given.junit_file, junit_text(tests, results));
  return std::any_of(results.begin(), results.end(), [](const auto& result) { return failure_count(result) > 0; });
}

}  // namespace gpulog::cli
