// Golden programs with their strata by turns on two executors: the same words in the same relations as on one.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/engine_state.hpp"
#include "exec/hybrid/hybrid_executor.hpp"
#include "gpulog/program.hpp"
#include "oracle/random_runs.hpp"

namespace gpulog {
namespace {

using rows = std::vector<std::vector<wide_word>>;

/// Of relations that are compared row by row.
constexpr std::uint64_t most_rows = 1000000;

rows rows_of(const detail::engine_state& state, std::uint32_t relation) {
  const std::size_t arity = state.run().relation(relation).attributes.size();
  rows result(state.results().rows(relation));
  for (std::uint64_t row = 0; row < result.size(); ++row) {
    for (std::size_t c = 0; c < arity; ++c)
      result[row].push_back(storage::value_of(state.results().at(relation, row, c), state.run().values.wide_or_none()));
  }
  std::sort(result.begin(), result.end());
  return result;
}

TEST(hybrid_executors, golden_programs_release_only) {
  std::size_t compared = 0;
  const std::vector<std::size_t> parities =
      oracle::is_sanitized ? std::vector<std::size_t>{3} : std::vector<std::size_t>{0, 1, 2, 3, 5};
  for (const auto& entry : std::filesystem::directory_iterator(std::string(GPULOG_TEST_DATA) + "/programs")) {
    SCOPED_TRACE(entry.path().filename().string());
    const unsigned word_size = entry.path().filename().string().starts_with("wide_") ? 64 : 32;
    const program source =
        program::from_file((entry.path() / "program.dl").string(), {.warnings = false, .word_size = word_size});
    if (!source.ok()) continue;
    run_options options;
    options.fact_directory = (entry.path() / "facts").string();
    detail::engine_state alone(source.state(), options);
    try {
      alone.load();
      alone.evaluate();
    } catch (const std::exception&) {
      continue;  // programs that have to fail
    }
    bool is_small = true;
    for (std::uint32_t r = 0; r < alone.run().analysed().relations.size(); ++r)
      is_small &= alone.results().rows(r) <= most_rows;
    if (!is_small) continue;  // pairs of an equivalence relation, which would be copied and compared
    std::vector<rows> expected;
    for (std::uint32_t r = 0; r < alone.run().analysed().relations.size(); ++r) expected.push_back(rows_of(alone, r));
    for (const std::size_t parity : parities) {
      run_options without_parts = options;
      if (parity > 1) without_parts.tuning["rows"] = "loop";  // recursions move between iterations
      detail::engine_state mixed(source.state(), without_parts);
      backend::host_memory other_memory;
      mixed.results().use_executors_of([&](exec::options chosen) {
        const plan::program& plan = mixed.results().current()->running_plan();
        exec::placement_rules rules;
        rules.wide = chosen.wide;
        rules.reoptimize = chosen.reoptimize;
        for (std::size_t s = 0; s < plan.strata.size(); ++s) {
          const bool is_there = s % 2 == parity || parity > 1;
          rules.why_not_on_device.emplace_back(is_there ? "" : "its number");
        }
        // Beyond, recursions move from one to the other in front of this iteration.
        if (parity > 1) {
          rules.move_at = parity - 2;
        }
        chosen.may_run = exec::strata_of_device(plan, rules);
        auto device = exec::make_cpu_executor(plan, mixed.run().values.symbols, other_memory, chosen);
        chosen.may_run = exec::strata_of_host(plan, rules);
        auto host = exec::make_cpu_executor(plan, mixed.run().values.symbols, mixed.run().values.memory, chosen);
        return exec::make_hybrid_executor(plan, std::move(device), std::move(host), rules);
      });
      mixed.load();
      mixed.evaluate();
      for (std::uint32_t r = 0; r < alone.run().analysed().relations.size(); ++r) {
        EXPECT_EQ(rows_of(mixed, r), expected[r]) << alone.run().analysed().relations[r].name;
      }
      ++compared;
      mixed.reset();  // before its memory
    }
  }
  EXPECT_GT(compared, 40U);
}

}  // namespace
}  // namespace gpulog
