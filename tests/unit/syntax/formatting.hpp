#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "parsing.hpp"
#include "syntax/format/format.hpp"
#include "syntax/format/pieces.hpp"

namespace gpulog::syntax {

/// The tokens of a text, and its comments without carriage returns, each in order.
inline std::pair<std::vector<std::string>, std::vector<std::string>> words_of(const std::string& text) {
  source_manager sources;
  const format_pieces pieces = pieces_of(sources.add("test.dl", text));
  std::pair<std::vector<std::string>, std::vector<std::string>> result;
  for (const format_token& token : pieces.tokens) result.first.emplace_back(pieces.text_of(token));
  for (const format_comment& comment : pieces.comments) {
    std::string& words = result.second.emplace_back(pieces.text_of(comment));
    std::erase(words, '\r');
  }
  return result;
}

inline std::string text_after_formatting(const std::string& text) {
  source_manager sources;
  return apply_edits(text, format_edits(sources.add("test.dl", text)));
}

/// Formats a text, and checks that tokens, comments and the syntax tree stay, and that formatting again changes
/// nothing.
inline std::string formatted(const std::string& text, const parse_options& options = {}) {
  std::string result = text_after_formatting(text);
  EXPECT_EQ(words_of(result), words_of(text)) << result;
  EXPECT_EQ(text_after_formatting(result), result);
  EXPECT_TRUE(parsed_text(text, options).result == parsed_text(result, options).result) << result;
  return result;
}

}  // namespace gpulog::syntax
