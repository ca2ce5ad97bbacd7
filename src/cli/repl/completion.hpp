#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Completion of the last word of a line.
namespace gpulog::cli {

/// Returns the offset of the last word of the text, which is empty after a character that no name contains. A dot
/// belongs to a word: `.decl` and `c.edge` are words.
[[nodiscard]] std::size_t last_word(std::string_view text);

struct completion {
  std::string rest;                ///< follows the word in all matches
  std::vector<std::string> words;  ///< the matches, sorted
};

/// Completes a word by the candidates that begin with the word.
[[nodiscard]] completion complete(std::string_view word, std::vector<std::string> candidates);

/// Returns the words in lines of at most 80 columns; of more than 100 words, the first 100 and the number of the
/// others.
[[nodiscard]] std::string in_lines(const std::vector<std::string>& words);

}  // namespace gpulog::cli
