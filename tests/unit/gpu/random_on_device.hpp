#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../exec/analysed_text.hpp"
#include "exec/gpu/gpu_executor.hpp"
#include "exec/hybrid/device_strata.hpp"
#include "exec/hybrid/hybrid_executor.hpp"
#include "oracle/loops_only.hpp"
#include "oracle/naive_evaluator.hpp"
#include "oracle/random_program.hpp"
#include "oracle/random_runs.hpp"
#include "oracle/restricted_plan.hpp"

/// Compares random programs on a device with the naive evaluator.
namespace gpulog::exec {

/// Tests that are skipped without a device.
class on_gpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = why_no_gpu(0); !reason.empty()) {
      GTEST_SKIP() << "skipped: no GPU (" << reason << ")";
    }
  }
};

/// Chooses the size of a test: an emulated device is thousands of times slower.
inline std::uint64_t sized(std::uint64_t on_device, std::uint64_t on_emulated_device) {
  return gpu_is_for_tests() ? on_emulated_device : on_device;
}

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

/// A named way of running.
struct device_way {
  std::string name;
  options chosen;
  /// Recursions start on the host and move to the device before this iteration; nothing: everything runs on the device.
  std::optional<std::uint64_t> move_at = {};
};

/// @param host_memory, counter must outlive the executor, like plan and symbols; `counter` is for autoinc()
inline std::unique_ptr<executor> make_device_run(const plan::program& plan, storage::symbol_table& symbols,
                                                 const device_way& how, backend::memory_resource& host_memory,
                                                 std::atomic<wide_word>& counter) {
  options chosen = how.chosen;
  chosen.counter = &counter;
  auto device = make_gpu_executor(plan, symbols, chosen, 0, 0);
  if (!how.move_at) return device;
  placement_rules rules;
  rules.why_not_on_device.resize(plan.strata.size());
  rules.move_at = how.move_at;
  return make_hybrid_executor(plan, std::move(device), make_cpu_executor(plan, symbols, host_memory, chosen), rules);
}

/// Compares all relations of the program with the naive evaluator's results.
inline void expect_same(executor& done, const sema::program& source, const oracle::database& expected) {
  for (std::uint32_t number = 0; number < source.relations.size(); ++number) {
    const auto& known = expected[relation_id(number)];
    EXPECT_EQ(rows_of(done, relation_id(number)), device_tuples(known.begin(), known.end()))
        << source.relations[number].name;
  }
}

inline bool has_kernels(const plan::program& plan, const options& chosen) {
  const std::vector<device_stratum> strata = find_device_strata(plan, chosen);
  return std::all_of(strata.begin(), strata.end(), [](const device_stratum& one) { return one.why_not.empty(); });
}

/// Compares programs with restrictions by demand.
inline void compare_restricted_programs(const std::vector<device_way>& ways, std::uint64_t usual_seed,
                                        std::uint64_t usual_count) {
  const std::uint64_t first = oracle::first_seed(usual_seed);
  const std::uint64_t count = oracle::programs_to_try(gpu_is_for_tests() ? usual_count / 4 : usual_count);
  std::uint64_t restricted = 0;
  for (std::uint64_t seed = first; seed < first + count && !::testing::Test::HasFailure(); ++seed) {
    const std::string text = oracle::make_random_program(seed, oracle::shape_of_restricted_programs(seed)).text;
    const analysed_text source(text);
    const plan::program plan = oracle::make_restricted_plan(source.program);
    if (!oracle::is_restricted(plan) || !has_kernels(plan, ways.front().chosen)) continue;
    oracle::database expected(source.program);
    try {
      oracle::evaluate(source.program, expected);
    } catch (const oracle::evaluation_error&) {
      continue;
    }
    ++restricted;
    for (const device_way& how : ways) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + how.name + "\n" + text);
      storage::symbol_table symbols(plan.symbols);
      backend::host_memory host_memory;
      std::atomic<wide_word> counter = 0;
      const auto running = make_device_run(plan, symbols, how, host_memory, counter);
      running->evaluate();
      expect_same(*running, source.program, expected);
    }
  }
  constexpr std::uint64_t expected_one_in = 60;
  if (count >= expected_one_in) EXPECT_GT(restricted, count / expected_one_in);
}

/// Runs programs in all ways: results and failures must match the naive evaluator.
inline void compare_random_programs(const std::vector<device_way>& ways, std::uint64_t usual_seed,
                                    std::uint64_t usual_count) {
  const std::uint64_t first = oracle::first_seed(usual_seed);
  const std::uint64_t count = oracle::programs_to_try(gpu_is_for_tests() ? usual_count / 4 : usual_count);
  // Many programs have texts or aggregates, which a device leaves to the host.
  const std::uint64_t least = std::max<std::uint64_t>(1, count / 4);
  const std::uint64_t most_tried = 20 * count;
  std::uint64_t compared = 0;
  for (std::uint64_t tried = 0; tried < most_tried && (tried < count || compared < least); ++tried) {
    if (::testing::Test::HasFailure()) break;
    const std::uint64_t seed = first + tried;
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
    const plan::program plan = oracle::loops_only(plan::make_plan(source.program));
    if (!has_kernels(plan, ways.front().chosen)) continue;
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
      if (has_result) expect_same(*running, source.program, expected);
    }
  }
  EXPECT_GE(compared, least);
}

}  // namespace gpulog::exec
