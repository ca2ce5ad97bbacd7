// Uses what a program would of each header, so that a name that the library does not show is not found.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "gpulog/engine.hpp"
#include "gpulog/functor.hpp"

namespace {

/// What was thrown has the type that the headers say, also across the border of a shared library.
bool reports_a_wrong_value(gpulog::engine& engine) {
  try {
    engine.relation("edge").insert({"Vienna", 1});
  } catch (const gpulog::input_error&) {
    return true;
  }
  return false;
}

int run() {
  const auto rejected = gpulog::program::from_text(".decl a(x:number) a(y).");
  if (rejected.ok() || rejected.diagnostics().empty()) return 2;

  const auto program = gpulog::program::from_text(R"(
    .decl edge(x:symbol, y:symbol)
    .decl reach(x:symbol, y:symbol)
    reach(x,y) :- edge(x,y).
    reach(x,z) :- reach(x,y), edge(y,z).
  )");
  gpulog::run_options options;
  options.jobs = 2;
  gpulog::engine engine(program, options);
  if (!reports_a_wrong_value(engine)) return 3;
  engine.relation("edge").insert({"Vienna", "Linz"});
  engine.relation("edge").insert({"Linz", "Salzburg"});
  engine.evaluate();
  for (const gpulog::tuple row : engine.relation("reach")) {
    std::printf("%s -> %s\n", row.text(0).c_str(), std::string(row.symbol(1)).c_str());
  }
  if (gpulog::to_json(engine.figures()).empty() || gpulog::tuning_choices().empty()) return 4;
  std::printf("gpulog %s\n", std::string(gpulog::version()).c_str());
  return 0;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const gpulog::error& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
  }
}
