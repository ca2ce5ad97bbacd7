// The C++ snippet of README.md, compiled and run.
#include <gtest/gtest.h>

#include <string>

// README snippet begins
#include "gpulog/engine.hpp"

std::string who_reaches_whom() {
  const auto program = gpulog::program::from_text(R"(
    .decl edge(from:symbol, to:symbol)
    .decl reach(from:symbol, to:symbol)
    reach(x,y) :- edge(x,y).
    reach(x,y) :- reach(x,z), edge(z,y).
  )");
  if (!program.ok()) return program.report();

  gpulog::engine engine(program, {.jobs = 2});
  auto edge = engine.relation("edge");
  edge.insert({"Vienna", "Linz"});
  edge.insert({"Linz", "Salzburg"});
  engine.evaluate();

  std::string text;
  for (const gpulog::tuple row : engine.relation("reach")) {
    text += std::string(row.symbol(0)) + " -> " + row.text(1) + "\n";
  }
  return text;
}
// README snippet ends

TEST(readme, snippet) {
  const std::string text = who_reaches_whom();
  for (const char* line : {"Vienna -> Linz\n", "Vienna -> Salzburg\n", "Linz -> Salzburg\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << text;
  }
  EXPECT_EQ(text.size(), std::string("Vienna -> Linz\nVienna -> Salzburg\nLinz -> Salzburg\n").size());
}
