// Storage `hisa` on a CUDA device against the naive evaluator: with a `new` so small that it is full again and again
// within a join, with and without eager buffer management, with too little memory. Skipped where there is no device.

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "../exec/analysed_text.hpp"
#include "exec/cuda/cuda_executor.hpp"
#include "exec/device_strata.hpp"
#include "oracle/naive_evaluator.hpp"
#include "oracle/random_program.hpp"
#include "oracle/random_runs.hpp"

namespace gpulog::exec {
namespace {

using tuples = std::multiset<std::vector<wide_word>>;

/// A way of running.
struct way {
  std::uint64_t candidate_rows;  ///< 0: as many as memory allows
  bool eager_buffers;
};
const std::vector<way> ways = {{0, true}, {1, true}, {7, false}, {200, true}, {1000, false}};

tuples rows_of(executor& done, relation_id relation) {
  tuples rows;
  const std::vector<const word*> columns = done.columns(relation);
  for (std::uint64_t row = 0; row < done.rows(relation); ++row) {
    std::vector<wide_word> values;
    for (const word* const column : columns) values.push_back(column[row]);
    rows.insert(std::move(values));
  }
  return rows;
}

options options_of(const way& how) {
  options chosen;
  chosen.storage = storage::storage_mode::hisa;
  chosen.buffers.eager = how.eager_buffers;
  chosen.cut.candidate_rows = how.candidate_rows;
  return chosen;
}

std::unique_ptr<stratum_executor> make(const plan::program& plan, storage::symbol_table& symbols, const way& how,
                                       std::uint64_t memory_limit = 0) {
  return make_cuda_executor(plan, symbols, options_of(how), 0, memory_limit);
}

class hisa_on_cuda : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = why_no_cuda_device(0); !reason.empty()) {
      GTEST_SKIP() << "skipped: no GPU (" << reason << ")";
    }
  }
};

TEST_F(hisa_on_cuda, random_programs) {
  const std::uint64_t first = oracle::first_seed(500000);
  const std::uint64_t count = oracle::programs_to_try(300);
  std::uint64_t compared = 0;
  for (std::uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
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
    for (const device_stratum& stratum : find_device_strata(plan, options_of(ways[0]))) {
      has_kernels = has_kernels && stratum.why_not.empty();
    }
    if (!has_kernels) continue;
    ++compared;
    for (const way& how : ways) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", new of " + std::to_string(how.candidate_rows) + "\n" + text);
      storage::symbol_table symbols(plan.symbols);
      const auto running = make(plan, symbols, how);
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
        EXPECT_EQ(rows_of(*running, relation), tuples(known.begin(), known.end()))
            << source.program.relations[number].name;
      }
    }
  }
  EXPECT_GT(compared, count / 4);  // the others have texts or aggregates
}

TEST_F(hisa_on_cuda, too_little_memory_is_reported_and_enough_is_enough) {
  // All pairs of 300 nodes on a circle, by a rule that offers each pair 300 times.
  std::string text = ".decl e(x:number, y:number)\n.decl t(x:number, y:number)\n";
  constexpr int nodes = 300;
  for (int i = 0; i < nodes; ++i) text += "e(" + std::to_string(i) + "," + std::to_string((i + 1) % nodes) + ").\n";
  text += "t(x,y) :- e(x,y).\nt(x,z) :- t(x,y), t(y,z).\n";
  const analysed_text source(text);
  const plan::program plan = plan::make_plan(source.program, {}, {});
  const relation_id result = source.program.find_relation("t").value();
  std::size_t refused = 0;
  for (std::uint64_t limit = 1u << 14; limit <= 64u << 20; limit *= 2) {
    SCOPED_TRACE(limit);
    storage::symbol_table symbols(plan.symbols);
    try {
      const auto running = make(plan, symbols, {0, true}, limit);
      running->evaluate();
      EXPECT_EQ(running->rows(result), std::uint64_t{nodes} * nodes);
    } catch (const memory_fault&) {
      ++refused;
    } catch (const backend::memory_exceeded&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 0U);
  EXPECT_LT(refused, 12U);
}

}  // namespace
}  // namespace gpulog::exec
