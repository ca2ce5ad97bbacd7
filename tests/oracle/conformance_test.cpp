// The conformance suite through analysis and the naive evaluator. Runs when GPULOG_CONFORMANCE names its folder.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "oracle/naive_evaluator.hpp"
#include "oracle/random_runs.hpp"
#include "unit/sema/analysed_text.hpp"

namespace gpulog {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> lines_of(const fs::path& path) {
  std::vector<std::string> lines;
  std::ifstream in(path, std::ios::binary);
  for (std::string line; std::getline(in, line);) {
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(line);
  }
  return lines;
}

std::set<std::uint32_t> accepted_lines(const std::string& json) {
  std::set<std::uint32_t> lines;
  std::smatch found;
  if (std::regex_search(json, found, std::regex("\"line\": (\\d+)"))) lines.insert(std::stoul(found[1]));
  if (std::regex_search(json, found, std::regex("\"also\": \\[([^\\]]*)\\]"))) {
    std::stringstream numbers(found[1]);
    for (std::string number; std::getline(numbers, number, ',');) lines.insert(std::stoul(number));
  }
  return lines;
}

bool is_unsupported(const analysed_text& text) {
  return text.report.to_string().find("is not supported yet") != std::string::npos;
}

word parse(value_kind kind, const std::string& field, oracle::database& data) {
  switch (kind) {
    case value_kind::symbol:
      return data.intern(field);
    case value_kind::floating:
      return std::bit_cast<word>(std::stof(field));
    case value_kind::unsigned_number: {
      const bool binary = field.starts_with("0b");
      return static_cast<word>(std::stoull(binary ? field.substr(2) : field, nullptr, binary ? 2 : 0));
    }
    default:
      return static_cast<word>(std::stoi(field));
  }
}

void load(const fs::path& folder, const sema::program& program, oracle::database& data) {
  for (std::uint32_t number = 0; number < program.relations.size(); ++number) {
    const sema::relation& relation = program.relations[number];
    if (!relation.has_directive(sema::directive_kind::input)) continue;
    for (const std::string& line : lines_of(folder / (relation.name + ".facts"))) {
      std::stringstream fields(line);
      oracle::tuple row;
      for (const sema::attribute& attribute : relation.attributes) {
        std::string field;
        std::getline(fields, field, '\t');
        row.push_back(parse(attribute.kind, field, data));
      }
      data[relation_id(number)].insert(std::move(row));
    }
  }
}

bool is_integer(const std::string& text) { return std::regex_match(text, std::regex("-?[0-9]+")); }

/// Fields that are numbers but not both integers are compared by value.
bool same_line(const std::string& left, const std::string& right) {
  if (left == right) return true;
  std::stringstream left_fields(left), right_fields(right);
  std::string a, b;
  while (true) {
    const bool more_left = static_cast<bool>(std::getline(left_fields, a, '\t'));
    const bool more_right = static_cast<bool>(std::getline(right_fields, b, '\t'));
    if (more_left != more_right) return false;
    if (!more_left) return true;
    if (a == b) continue;
    if (is_integer(a) && is_integer(b)) return false;
    try {
      const double x = std::stod(a), y = std::stod(b);
      if (std::abs(x - y) > 1e-6 * std::max(std::abs(x), std::abs(y))) return false;
    } catch (const std::logic_error&) {
      return false;
    }
  }
}

void expect_results(const fs::path& folder, const sema::program& program) {
  oracle::database data(program);
  load(folder / "facts", program, data);
  oracle::evaluate(program, data);
  for (std::uint32_t number = 0; number < program.relations.size(); ++number) {
    const sema::relation& relation = program.relations[number];
    const fs::path expected_file = folder / "expected" / (relation.name + ".csv");
    if (!fs::exists(expected_file)) continue;
    auto expected = lines_of(expected_file);
    auto actual = data.lines(program, relation_id(number));
    std::sort(expected.begin(), expected.end());
    ASSERT_EQ(actual.size(), expected.size()) << relation.name;
    for (std::string& line : actual) {
      const auto match = std::find_if(expected.begin(), expected.end(),
                                      [&](const std::string& other) { return same_line(line, other); });
      ASSERT_NE(match, expected.end()) << relation.name << ": unexpected " << line;
      expected.erase(match);
    }
  }
}

void check_case(const fs::path& folder) {
  SCOPED_TRACE(folder.string());
  syntax::parse_options options;
  options.include_directories = {folder.string()};
  const analysed_text text(text_of(folder / "program.dl"), options);
  const fs::path error_file = folder / "expected" / "error.json";
  if (fs::exists(error_file)) {
    const auto wanted = accepted_lines(text_of(error_file));
    if (text.accepted()) {
      // Without a line it is an error of the run, about fact files.
      EXPECT_TRUE(wanted.empty()) << "accepted";
      return;
    }
    const auto reported = text.error_lines();
    EXPECT_TRUE(wanted.empty() ||
                std::any_of(wanted.begin(), wanted.end(), [&](std::uint32_t line) { return reported.contains(line); }))
        << text.report.to_string();
    return;
  }
  if (is_unsupported(text)) return;
  ASSERT_TRUE(text.accepted()) << text.report.to_string();
  expect_results(folder, *text.program);
}

std::vector<fs::path> cases(const fs::path& root) {
  std::vector<fs::path> result;
  for (const char* feature :
       {"01-core", "02-paper-queries", "03-constraints", "04-negation", "05-types", "06-strings", "08-disjunction",
        "11-components", "13-qualifiers", "16-preprocessing", "18-syntax-errors", "17-semantic-errors"}) {
    if (!fs::is_directory(root / feature)) continue;
    for (const auto& entry : fs::directory_iterator(root / feature)) result.push_back(entry.path());
  }
  std::sort(result.begin(), result.end());
  return result;
}

TEST(conformance, programs_are_rejected_or_evaluated_as_expected) {
  const char* root = std::getenv("GPULOG_CONFORMANCE");
  if (root == nullptr) GTEST_SKIP() << "GPULOG_CONFORMANCE is not set";
  // The product itself runs all of them.
  constexpr std::size_t step = oracle::is_sanitized ? 5 : 1;
  const std::vector<fs::path> folders = cases(root);
  for (std::size_t i = 0; i < folders.size(); i += step) check_case(folders[i]);
}

}  // namespace
}  // namespace gpulog
