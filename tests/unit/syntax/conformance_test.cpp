#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "formatting.hpp"
#include "support/diagnostics.hpp"
#include "syntax/parser.hpp"
#include "syntax/printer.hpp"

/// Programs of the conformance suite, where the environment variable GPULOG_CONFORMANCE names its folder.
namespace gpulog::syntax {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> cases() {
  std::vector<fs::path> result;
  const char* const folder = std::getenv("GPULOG_CONFORMANCE");
  if (folder == nullptr) return result;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().filename() == "program.dl") result.push_back(entry.path().parent_path());
  }
  std::sort(result.begin(), result.end());
  return result;
}

struct outcome {
  source_manager sources;
  diagnostics report;
  program parsed;
};

void parse_case(const fs::path& folder, outcome& result) {
  source_file& file = result.sources.load((folder / "program.dl").string());
  result.parsed = parse(file, result.sources, result.report);
}

/// The numbers in `"line": L, "also": [M, ...]` of expected/error.json.
std::set<std::uint32_t> accepted_lines(const fs::path& folder) {
  std::ifstream in(folder / "expected" / "error.json");
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  text = text.substr(0, text.find("\"contains\""));
  std::set<std::uint32_t> result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] < '0' || text[at] > '9') continue;
    std::size_t length = 0;
    result.insert(static_cast<std::uint32_t>(std::stoul(text.substr(at), &length)));
    at += length;
  }
  return result;
}

bool has_syntax_error(const fs::path& folder) { return folder.parent_path().filename() == "18-syntax-errors"; }

TEST(conformance_programs, programs_without_syntax_errors_parse_and_print_back) {
  const auto folders = cases();
  if (folders.empty()) GTEST_SKIP() << "GPULOG_CONFORMANCE is not set";
  for (const fs::path& folder : folders) {
    if (has_syntax_error(folder)) continue;
    outcome first;
    parse_case(folder, first);
    EXPECT_FALSE(first.report.has_errors()) << folder << "\n" << first.report.to_string();
    EXPECT_FALSE(first.parsed.items.empty()) << folder;

    outcome second;
    const std::string text = print(first.parsed);
    second.parsed = parse(second.sources.add("printed.dl", text), second.sources, second.report);
    EXPECT_FALSE(second.report.has_errors()) << folder << "\n" << second.report.to_string();
    EXPECT_TRUE(first.parsed == second.parsed) << folder << "\n" << text;
  }
}

TEST(conformance_programs, formatting_keeps_the_program) {
  const auto folders = cases();
  if (folders.empty()) GTEST_SKIP() << "GPULOG_CONFORMANCE is not set";
  for (const fs::path& folder : folders) {
    SCOPED_TRACE(folder);
    source_manager sources;
    diagnostics report;
    source_file& file = sources.load((folder / "program.dl").string());
    const std::string text(file.text());
    const std::vector<text_edit> edits = format_program(file, sources, report, {});
    const bool has_error = has_syntax_error(folder) && text.find(".include") == std::string::npos;
    EXPECT_EQ(report.has_errors(), has_error) << report.to_string();
    if (has_error) continue;
    const std::string result = text_after_formatting(text);
    EXPECT_EQ(words_of(result), words_of(text));
    EXPECT_EQ(text_after_formatting(result), result);
    EXPECT_EQ(apply_edits(text, edits), result);
  }
}

TEST(conformance_programs, syntax_errors_name_the_line) {
  const auto folders = cases();
  if (folders.empty()) GTEST_SKIP() << "GPULOG_CONFORMANCE is not set";
  for (const fs::path& folder : folders) {
    if (!has_syntax_error(folder)) continue;
    outcome result;
    parse_case(folder, result);
    const std::set<std::uint32_t> lines = accepted_lines(folder);
    const auto remarks = result.report.to_public();
    const bool named = std::any_of(remarks.begin(), remarks.end(), [&lines](const diagnostic& remark) {
      const bool by_note = std::any_of(remark.notes.begin(), remark.notes.end(),
                                       [&lines](const diagnostic_note& note) { return lines.contains(note.line); });
      return remark.level == severity::error && (lines.contains(remark.line) || by_note);
    });
    EXPECT_TRUE(named) << folder << "\n" << result.report.to_string();
    EXPECT_LE(result.report.error_count(), 2U) << folder << "\n" << result.report.to_string();
    RecordProperty(folder.filename().string(), result.report.to_string());
  }
}

}  // namespace
}  // namespace gpulog::syntax
