#include "kernels/steps/text_pattern.hpp"
#include "oracle/random_runs.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <regex>
#include <string>

namespace gpulog::kernels {
namespace {

using outcome = text_pattern::outcome;

outcome match(std::string_view pattern, std::string_view text) { return text_pattern(pattern).match(text); }

outcome match_by_library(const std::string& pattern, const std::string& text) {
  try {
    return std::regex_match(text, std::regex(pattern)) ? outcome::yes : outcome::no;
  } catch (const std::regex_error&) {
    return outcome::bad_pattern;
  }
}

TEST(text_pattern, the_whole_text_has_to_match) {
  EXPECT_EQ(match("a.c", "abc"), outcome::yes);
  EXPECT_EQ(match("a.c", "xabc"), outcome::no);
  EXPECT_EQ(match("a.c", "abcx"), outcome::no);
  EXPECT_EQ(match(".*b.*", "abc"), outcome::yes);
  EXPECT_EQ(match("", ""), outcome::yes);
  EXPECT_EQ(match("", "a"), outcome::no);
  EXPECT_EQ(match("^a$", "a"), outcome::yes);
  EXPECT_EQ(match("a*$^", "a"), outcome::no);
  EXPECT_EQ(match("a*$^", ""), outcome::yes);
}

TEST(text_pattern, patterns_of_programs) {
  EXPECT_EQ(match("<java\\.lang\\.[A-Z]\\w+: .*>", "<java.lang.String: int length()>"), outcome::yes);
  EXPECT_EQ(match("(get|set|is)[A-Z].*", "getName"), outcome::yes);
  EXPECT_EQ(match("(get|set|is)[A-Z].*", "gettysburg"), outcome::no);
  EXPECT_EQ(match("0x[0-9a-fA-F]{1,8}", "0xDEADbeef"), outcome::yes);
  EXPECT_EQ(match("0x[0-9a-fA-F]{1,8}", "0x123456789"), outcome::no);
  EXPECT_EQ(match("[^\\s,]+(,[^\\s,]+)*", "a,bc,d"), outcome::yes);
  EXPECT_EQ(match("[[:alpha:]_][[:alnum:]_]*", "_x1"), outcome::yes);
  EXPECT_EQ(match("(?:ab){2,}", "ababab"), outcome::yes);
  EXPECT_EQ(match("[a-c-]+", "a-c"), outcome::yes);
  EXPECT_EQ(match("\\.\\$\\(\\)\\[\\]", ".$()[]"), outcome::yes);
}

TEST(text_pattern, what_automata_do_not_decide_is_left_to_the_library) {
  EXPECT_EQ(match("(.)\\1", "aa"), outcome::yes);
  EXPECT_EQ(match("(.)\\1", "ab"), outcome::no);
  EXPECT_EQ(match("(?=a).*", "ab"), outcome::yes);
  EXPECT_EQ(match("(?!a).*", "ab"), outcome::no);
  EXPECT_EQ(match("a\\b.*", "a b"), outcome::yes);
  EXPECT_EQ(match("\\x41", "A"), outcome::yes);
}

TEST(text_pattern, bad_patterns) {
  for (const char* pattern :
       {"(", ")", "*a", "a|*", "[", "[z-a]", "a{2,1}", "a{x}", "a{", "\\", "(?<a)", "a{1000000}"}) {
    EXPECT_EQ(match(pattern, "a"), outcome::bad_pattern) << pattern;
  }
}

TEST(text_pattern, long_texts_and_evil_patterns_end) {
  const std::string text(2'000'000, 'x');
  EXPECT_EQ(match(".*", text), outcome::yes);
  EXPECT_EQ(match("(x|y)*", text), outcome::yes);
  EXPECT_EQ(match("(x+x+)+y", text), outcome::no);
  EXPECT_EQ(match("((x*)*)*y", text), outcome::no);
  EXPECT_EQ(match("(.*)*x", text), outcome::yes);
  EXPECT_EQ(match("(.)\\1*", text), outcome::too_complex);
}

TEST(text_pattern, back_references_are_bounded) {
  EXPECT_EQ(match("(a+)b\\1", "aabaa"), outcome::yes);
  EXPECT_EQ(match("(a+)b\\1", "aabaaa"), outcome::no);
  EXPECT_EQ(match("(.+)\\1", std::string(2000, 'x')), outcome::yes);
  EXPECT_EQ(match("(.+)\\1", std::string(1999, 'x')), outcome::no);
  if (oracle::is_sanitized) return;  // a hundred million steps take long there
  EXPECT_EQ(match("(x+x+)+\\1y", std::string(60, 'x')), outcome::too_complex);
  EXPECT_EQ(match("((a*)*)*\\2b", std::string(40, 'a')), outcome::too_complex);
}

TEST(text_pattern, long_patterns_end) {
  for (const char* part : {"(", "(a", "a", "a|", "[", "a*", "\\d", "((a{10}){10}){10}", "(?=a)", "^", "a?"}) {
    std::string pattern;
    while (pattern.size() < 300'000) pattern += part;
    EXPECT_EQ(match(pattern, "aaaaaaaaaa"), outcome::bad_pattern) << part;
    EXPECT_EQ(match(pattern + std::string(100'000, ')'), "aaaaaaaaaa"), outcome::bad_pattern) << part;
  }
}

// More subsets of states than are kept.
TEST(text_pattern, many_deterministic_states_release_only) {
  text_pattern pattern("(a|b)*a(a|b){14}");
  std::mt19937 random(7);
  std::string text;
  for (int i = 0; i < 20000; ++i) text += random() % 2 == 0 ? 'a' : 'b';
  for (std::size_t end = oracle::is_sanitized ? 19996 : 19980; end < text.size(); ++end) {
    const std::string_view part(text.data(), end);
    EXPECT_EQ(pattern.match(part), part[end - 15] == 'a' ? outcome::yes : outcome::no);
  }
}

TEST(text_pattern, random_patterns_as_the_library_has_them) {
  std::mt19937 random(20250101);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const std::string pieces[] = {"a",   "b",    "c",      ".",     "*",   "+",           "?",     "|",    "(",
                                ")",   "[ab]", "[^a]",   "^",     "$",   "{2}",         "{1,2}", "{0,}", "\\w",
                                "\\d", "(?:",  "1",      "[a-c]", "-",   "]",           "}",     "[",    "{",
                                ",",   "\\.",  "[\\]a]", "[a-]",  "\\s", "[[:digit:]b]"};
  std::size_t by_automaton = 0;
  constexpr std::size_t rounds = oracle::fewer_when_sanitized(6000);
  for (std::size_t round = 0; round < rounds; ++round) {
    std::string pattern;
    const std::size_t length = 1 + below(7);
    for (std::size_t i = 0; i < length; ++i) pattern += pieces[below(std::size(pieces))];
    if (parse_pattern(pattern).what == parsed_pattern::outcome::left_to_library) continue;
    ++by_automaton;
    text_pattern compiled(pattern);
    for (int t = 0; t < 6; ++t) {
      std::string text;
      const std::size_t size = below(6);
      for (std::size_t i = 0; i < size; ++i) text += "abc1. -]\n"[below(9)];
      ASSERT_EQ(compiled.match(text), match_by_library(pattern, text)) << pattern << " and " << text;
    }
  }
  EXPECT_GT(by_automaton, rounds * 3 / 4);
}

}  // namespace
}  // namespace gpulog::kernels
