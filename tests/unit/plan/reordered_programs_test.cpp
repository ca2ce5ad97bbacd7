#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "oracle/random_program.hpp"
#include "oracle/random_runs.hpp"
#include "plan/reoptimizer.hpp"
#include "plan/validate.hpp"
#include "plan_from_text.hpp"
#include "plan_interpreter.hpp"

namespace gpulog::plan {
namespace {

/// Sizes that have nothing to do with the program, so that any order may be chosen.
class random_measures final : public relation_measures {
 public:
  random_measures(std::uint64_t seed, std::size_t relations) : seed_(seed) {
    std::mt19937_64 random(seed);
    for (std::size_t number = 0; number < relations; ++number) rows_.push_back(std::uint64_t{1} << random() % 20);
  }
  [[nodiscard]] std::uint64_t rows(relation_id relation) const override { return rows_[relation.value]; }
  [[nodiscard]] std::optional<double> rows_per_key(relation_id relation,
                                                   const std::vector<std::uint32_t>& columns) const override {
    std::uint64_t mixed = seed_ + relation.value;
    for (const std::uint32_t column : columns) mixed = mixed * 31 + column;
    return static_cast<double>(std::mt19937_64(mixed)() % rows_[relation.value] + 1);
  }

 private:
  std::uint64_t seed_;
  std::vector<std::uint64_t> rows_;
};

/// Programs whose strata are planned again, each in front of it, for sizes that nobody has counted: what is derived
/// stays the same, and no row is made twice in a relation that has no tuple set.
TEST(reordered_programs, derive_what_they_did) {
  const std::uint64_t first = oracle::first_seed(1);
  const std::uint64_t count = oracle::programs_to_try(300);
  std::uint64_t reordered = 0;
  std::uint64_t without_set = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    oracle::random_program_options shape;
    shape.symbols = shape.floats = false;
    shape.first_matches = seed % 3 == 0 ? 50 : 0;
    const analysed_text text = analyse_text(oracle::make_random_program(seed, shape).text);
    const program planned = make_plan(text.program);
    plan_interpreter usual(planned);
    usual.run();
    if (usual.gave_up()) continue;
    EXPECT_TRUE(usual.repeating().empty());

    reoptimizer again(text.program, {}, {}, 0);
    const random_measures measures(seed, again.plan().relations.size());
    for (std::size_t number = 0; number < again.plan().strata.size(); ++number) again.reoptimize(number, measures);
    reordered += again.reordered();
    ASSERT_EQ(validate(again.plan()), std::vector<std::string>{});
    plan_interpreter other(again.plan());
    other.run();
    ASSERT_EQ(other.gave_up(), usual.gave_up());
    for (std::uint32_t relation = 0; relation < planned.relations.size(); ++relation) {
      EXPECT_EQ(other.tuples(relation_id(relation)), usual.tuples(relation_id(relation)))
          << planned.relations[relation].name;
      without_set += again.plan().relations[relation].needs_set ? 0 : 1;
    }
    for (const relation_id relation : other.repeating()) ADD_FAILURE() << planned.relations[relation.value].name;
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << oracle::make_random_program(seed, shape).text;
      return;
    }
  }
  EXPECT_GE(reordered, count / 2);
  EXPECT_GE(without_set, count / 10);
}

}  // namespace
}  // namespace gpulog::plan
