// The formatter on random programs: the syntax tree and comments stay, and formatting again changes nothing.

#include "syntax/format/format.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "oracle/random_program.hpp"
#include "oracle/random_runs.hpp"
#include "support/diagnostics.hpp"
#include "syntax/format/pieces.hpp"
#include "syntax/parser.hpp"

namespace gpulog {
namespace {

/// Returns the text with more or fewer blanks and line ends after commas and `:-`.
std::string scattered(const std::string& text, std::mt19937_64& random) {
  static const std::string gaps[] = {"", " ", "  ", "\t", "\n", "\n\n  ", " // text\n", " /* text */ "};
  std::string result;
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"') in_string = !in_string;
    result += text[at];
    const bool is_separator = text[at] == ',' || (at > 0 && text.substr(at - 1, 2) == ":-");
    if (is_separator && !in_string) result += gaps[random() % std::size(gaps)];
  }
  return result;
}

std::vector<std::string> comments_of(const source_file& file) {
  const syntax::format_pieces pieces = syntax::pieces_of(file);
  std::vector<std::string> result;
  for (const syntax::format_comment& comment : pieces.comments) result.emplace_back(pieces.text_of(comment));
  return result;
}

TEST(random_programs, formatting_keeps_the_syntax_tree) {
  const std::uint64_t first = oracle::first_seed(1);
  const std::uint64_t count = oracle::programs_to_try(1000);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    std::mt19937_64 random(seed);
    const std::string text = scattered(oracle::make_random_program(seed).text, random);
    source_manager sources;
    diagnostics report;
    source_file& file = sources.add("test.dl", text);
    const auto edits = syntax::format_program(file, sources, report, {});
    ASSERT_FALSE(report.has_errors()) << "seed " << seed << "\n" << report.to_string() << text;
    const std::string formatted = syntax::apply_edits(text, edits);
    source_file& formatted_file = sources.add("formatted.dl", formatted);
    const bool has_tree = syntax::parse(formatted_file, sources, report) == syntax::parse(file, sources, report);
    ASSERT_TRUE(has_tree) << "seed " << seed << "\n" << formatted;
    ASSERT_TRUE(syntax::format_edits(formatted_file).empty()) << "seed " << seed << "\n" << formatted;
    ASSERT_EQ(comments_of(formatted_file), comments_of(file)) << "seed " << seed << "\n" << formatted;
  }
}

}  // namespace
}  // namespace gpulog
