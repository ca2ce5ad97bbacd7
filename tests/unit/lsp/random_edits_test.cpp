#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "lsp_session.hpp"
#include "oracle/random_runs.hpp"

/// Random edits of the golden programs. After each edit, an edited document and a new document of the same text have
/// the same answers, and every request has an answer.
namespace gpulog::lsp {
namespace {

std::vector<std::string> golden_programs() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(GPULOG_TEST_DATA) + "/programs")) {
    if (std::filesystem::exists(entry.path() / "program.dl")) paths.push_back(entry.path() / "program.dl");
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (const auto& path : paths) {
    std::ifstream in(path);
    std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    if (text.size() < 20'000) texts.push_back(std::move(text));
  }
  return texts;
}

constexpr const char* pieces[] = {"(",
                                  ")",
                                  ",",
                                  ".",
                                  ":-",
                                  "\"",
                                  "/*",
                                  "*/",
                                  "//",
                                  "\n",
                                  " ",
                                  "_",
                                  "x",
                                  "{",
                                  "}",
                                  "[",
                                  "]",
                                  "$",
                                  "@",
                                  "!",
                                  "=",
                                  "#define X ",
                                  "#if 1\n",
                                  "#endif\n",
                                  ".decl ",
                                  ".comp C {",
                                  ".init c = C",
                                  ".type T = ",
                                  "count : {",
                                  "\xC3\xA4",
                                  "\xF0\x9F\x98\x80",
                                  "\r\n",
                                  "1",
                                  "c.",
                                  ".input "};

class edited_text {
 public:
  edited_text(lsp_session& session, std::string text) : session_(session), text_(std::move(text)) {
    session_.open(text_);
  }

  void edit(std::mt19937_64& random) {
    const text_index index(text_, position_encoding::utf16);
    const auto any = [&](std::size_t below) { return static_cast<std::size_t>(random() % below); };
    const std::size_t longest = any(3) == 0 ? 200 : 4;
    const text_position begin = index.position(any(text_.size() + 1));
    const std::size_t first = index.offset(begin);
    const text_position end = index.position(std::min(text_.size(), first + (any(2) == 0 ? 0 : any(longest))));
    const std::size_t last = index.offset(end);
    const std::string inserted = any(4) == 0 ? text_.substr(first, last - first) : pieces[any(std::size(pieces))];
    session_.edit(begin, end, inserted);
    text_.replace(first, last - first, inserted);
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  lsp_session& session_;
  std::string text_;
};

/// Returns the answers to all requests about a position.
std::vector<json> answers(lsp_session& session, const text_position& at) {
  std::vector<json> result;
  for (const char* method : {"documentSymbol", "formatting", "foldingRange", "semanticTokens/full", "codeLens"})
    result.push_back(session.ask(method));
  for (const char* method :
       {"definition", "documentHighlight", "hover", "completion", "signatureHelp", "prepareCallHierarchy"})
    result.push_back(session.ask_at(method, at.line, at.character));
  result.push_back(session.ask_at("references", at.line, at.character, {{"context", {{"includeDeclaration", true}}}}));
  result.push_back(session.ask_at("rename", at.line, at.character, {{"newName", "new_name"}}));
  result.back().erase("code");  // a refusal is an answer, too
  const json items = session.ask_at("prepareCallHierarchy", at.line, at.character);
  for (const json& item : items.is_array() ? items : json::array()) {
    for (const char* method : {"callHierarchy/incomingCalls", "callHierarchy/outgoingCalls"})
      result.push_back(session.request(method, {{"item", item}}));
  }
  const json whole = {{"range", {{"start", {{"line", 0}, {"character", 0}}}, {"end", to_json(at)}}}};
  for (const char* method : {"codeAction", "rangeFormatting"}) result.push_back(session.ask(method, whole));
  for (const json& published : session.diagnostics()) result.push_back(published.at("diagnostics"));
  return result;
}

TEST(lsp_edits, random_edits_have_the_answers_of_the_whole_text) {
  const std::vector<std::string> programs = golden_programs();
  ASSERT_FALSE(programs.empty());
  const std::uint64_t first = oracle::first_seed(1);
  for (std::uint64_t seed = first; seed < first + oracle::programs_to_try(30); ++seed) {
    std::mt19937_64 random(seed);
    lsp_session session;
    edited_text edited(session, programs[random() % programs.size()]);
    for (int round = 0; round < 10; ++round) {
      edited.edit(random);
      const text_index index(edited.text(), position_encoding::utf16);
      const text_position at = index.position(random() % (edited.text().size() + 1));
      const std::vector<json> given = answers(session, at);
      for (const json& answer : given)
        ASSERT_FALSE(answer.is_object() && answer.contains("code")) << "seed " << seed << "\n" << answer;
      lsp_session fresh;
      fresh.open(edited.text());
      ASSERT_EQ(given, answers(fresh, at)) << "seed " << seed << "\n" << edited.text();
    }
  }
}

}  // namespace
}  // namespace gpulog::lsp
