#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../exec/analysed_text.hpp"
#include "exec/cuda/cuda_executor.hpp"
#include "exec/device_strata.hpp"
#include "exec/mixed_executor.hpp"
#include "oracle/naive_evaluator.hpp"
#include "oracle/random_program.hpp"
#include "oracle/random_runs.hpp"

/// Random programs on a device against the naive evaluator.
namespace gpulog::exec {

/// Tests that are skipped where there is no device.
class on_cuda : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = why_no_cuda_device(0); !reason.empty()) {
      GTEST_SKIP() << "skipped: no GPU (" << reason << ")";
    }
  }
};

using device_tuples = std::multiset<std::vector<wide_word>>;

inline device_tuples rows_of(executor& done, relation_id relation) {
  device_tuples rows;
  const std::vector<const word*> columns = done.columns(relation);
  for (std::uint64_t row = 0; row < done.rows(relation); ++row) {
    std::vector<wide_word> values;
    for (const word* const column : columns) values.push_back(column[row]);
    rows.insert(std::move(values));
  }
  return rows;
}

/// A way of running, and how it is told from others.
struct device_way {
  std::string name;
  options chosen;
  /// Recursions begin on the host, and move to the device in front of this iteration; nothing: all is the device's.
  std::optional<std::uint64_t> move_at = {};
};

/// @param host_memory, counter of autoinc() outlive it, as plan and symbols do
inline std::unique_ptr<executor> make_device_run(const plan::program& plan, storage::symbol_table& symbols,
                                                 const device_way& how, backend::memory_resource& host_memory,
                                                 std::atomic<wide_word>& counter) {
  options chosen = how.chosen;
  chosen.counter = &counter;
  auto device = make_cuda_executor(plan, symbols, chosen, 0, 0);
  if (!how.move_at) return device;
  mixing_rules rules;
  rules.why_not_on_device.resize(plan.strata.size());
  rules.move_at = how.move_at;
  return make_mixed_executor(plan, std::move(device), make_cpu_executor(plan, symbols, host_memory, chosen), rules);
}

/// Runs programs in all ways. They have to find what the naive evaluator finds, and fail where it fails.
inline void compare_random_programs(const std::vector<device_way>& ways, std::uint64_t usual_seed,
                                    std::uint64_t usual_count) {
  const std::uint64_t first = oracle::first_seed(usual_seed);
  const std::uint64_t count = oracle::programs_to_try(usual_count);
  std::uint64_t compared = 0;
  for (std::uint64_t seed = first; seed < first + count && !::testing::Test::HasFailure(); ++seed) {
    oracle::random_program_options shape;
    if (seed % 3 == 1) shape.largest_arity = 5;
    if (seed % 3 == 2) shape.layers = 6;
    const std::string text = oracle::make_random_program(seed, shape).text;
    const analysed_text source(text);
    oracle::database expected(source.program);
    bool has_result = true;
    try {
      oracle::evaluate(source.program, expected);
    } catch (const oracle::evaluation_error&) {
      has_result = false;
    }
    const plan::program plan = plan::make_plan(source.program, {}, {});
    bool has_kernels = true;
    for (const device_stratum& stratum : find_device_strata(plan, ways.front().chosen)) {
      has_kernels = has_kernels && stratum.why_not.empty();
    }
    if (!has_kernels) continue;
    ++compared;
    for (const device_way& how : ways) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + how.name + "\n" + text);
      storage::symbol_table symbols(plan.symbols);
      backend::host_memory host_memory;
      std::atomic<wide_word> counter = 0;
      const auto running = make_device_run(plan, symbols, how, host_memory, counter);
      try {
        running->evaluate();
        EXPECT_TRUE(has_result);
      } catch (const evaluation_fault&) {
        EXPECT_FALSE(has_result);
        continue;
      }
      for (std::uint32_t number = 0; has_result && number < source.program.relations.size(); ++number) {
        const relation_id relation(number);
        const auto& known = expected[relation];
        EXPECT_EQ(rows_of(*running, relation), device_tuples(known.begin(), known.end()))
            << source.program.relations[number].name;
      }
    }
  }
  EXPECT_GT(compared, count / 4);  // the others have texts or aggregates
}

}  // namespace gpulog::exec
