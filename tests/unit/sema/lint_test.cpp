#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sema/analysis.hpp"
#include "support/diagnostics.hpp"
#include "syntax/parser.hpp"

namespace gpulog {
namespace {

/// Returns the line and the message of each warning.
std::vector<std::string> lint_of(const std::string& text, bool warnings = true, std::set<std::string> filled = {}) {
  source_manager sources;
  diagnostics report;
  sema::analysis_options options;
  options.lint = true;
  options.warnings = warnings;
  options.filled_relations = std::move(filled);
  EXPECT_TRUE(sema::analyse(syntax::parse(sources.add("test.dl", text), sources, report), report, options)) << text;
  std::vector<std::string> messages;
  for (const auto* remark : report.sorted())
    messages.push_back(std::to_string(remark->span.file->position(remark->span.begin).line) + ": " + remark->message);
  return messages;
}

using messages = std::vector<std::string>;

TEST(lint, relations_of_the_caller_have_tuples) {
  const std::string text = ".decl a(x:number)\n.decl b(x:number)\n.output b\nb(x) :- a(x).\n";
  EXPECT_EQ(lint_of(text), (messages{"1: No rules/facts defined for relation a",
                                     "4: The rule can never fire: relation a never has a tuple"}));
  EXPECT_EQ(lint_of(text, true, {"a"}), messages());
  EXPECT_EQ(lint_of(text, false), messages());
}

TEST(lint, alternatives_and_heads_are_rules) {
  EXPECT_EQ(
      lint_of(
          ".decl a(x:number)\n.decl b(x:number)\n.decl c(x:number)\n.output b\n.output c\na(1).\n"
          "b(x), c(x) :- a(x) ; a(x), a(y), y > 2.\nc(y), b(y) :- a(y).\nb(z), c(z) :- a(z) ; a(z), a(w), w > 2.\n"),
      (messages{"7: The body is a cross product: a(y) has no variable in common with a(x)", "9: The rule occurs twice",
                "9: The body is a cross product: a(w) has no variable in common with a(z)"}));
}

TEST(lint, inline_relations_may_be_unread) {
  EXPECT_EQ(lint_of(".decl a(x:number) inline\n.decl e(x:number, y:number)\ne(1, 2).\n.decl b(x:number)\n.output b\n"
                    "a(x) :- e(x, _).\nb(x) :- a(x), !unread(x).\n.decl unread(x:number) inline\nunread(x) :- x = 1.\n"
                    ".decl f(x:number) inline\nf(x) :- e(_, x).\n"),
            (messages{"10: Relation f is neither read by another relation nor written"}));
}

}  // namespace
}  // namespace gpulog
