// The C++ of README.md, compiled and run; tests/docs/test_documents.py compares it with the document.
#include "gpulog/engine.hpp"

#include <gtest/gtest.h>

#include <string>

TEST(readme, snippet) {
  std::string text;
  const auto program = gpulog::program::from_text(R"(
    .decl edge(x:symbol, y:symbol)
    .decl reach(x:symbol, y:symbol)
    reach(x,y) :- edge(x,y).
    reach(x,z) :- reach(x,y), edge(y,z).
  )");
  gpulog::engine engine(program, {.jobs = 2});
  engine.relation("edge").insert({"Vienna", "Linz"});
  engine.relation("edge").insert({"Linz", "Salzburg"});
  engine.evaluate();
  for (const gpulog::tuple row : engine.relation("reach")) {
    text += row.text(0) + " -> " + row.text(1) + "\n";
  }
  for (const char* line : {"Vienna -> Linz\n", "Vienna -> Salzburg\n", "Linz -> Salzburg\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << text;
  }
  EXPECT_EQ(text.size(), std::string("Vienna -> Linz\nVienna -> Salzburg\nLinz -> Salzburg\n").size());
}
