// Comparisons with constants that a pipeline makes first, tested on columns before a run.

#include "kernels/join/column_tests.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tile_runner_fixture.hpp"

namespace gpulog::kernels::tile_runner_tests {
namespace {

class column_tests : public tile_runner_fixture {
 protected:
  static step compare(comparison_op comparison, register_number left, register_number right) {
    step made{};
    made.kind = step_kind::filter;
    made.comparison = comparison;
    made.arguments = {left, right};
    return made;
  }
};
INSTANTIATE_TEST_SUITE_P(modes, column_tests, all_modes(), [](const auto& info) { return name_of(info.param); });

TEST_P(column_tests, only_leading_comparisons_with_constants_count) {
  const relation_number source = add_relation(3);
  segment first = scan_of(source, {{1, 2}, {0, 0}});
  // Constants 7 and 9 in registers 2 and 3.
  first.steps = {compare(comparison_op::equal, 3, 0), compare(comparison_op::not_equal, 1, 2),
                 compare(comparison_op::equal, 0, 1), compare(comparison_op::equal, 0, 2)};
  const std::vector<column_test> tests = first_tests(pipeline_of({first}, {0}, 2, {7, 9}));
  ASSERT_EQ(tests.size(), 2);
  EXPECT_EQ(tests[0].column, 0);
  EXPECT_EQ(tests[0].value, 9);
  EXPECT_FALSE(tests[0].negated);
  EXPECT_EQ(tests[1].column, 2);
  EXPECT_EQ(tests[1].value, 7);
  EXPECT_TRUE(tests[1].negated);

  first.steps = {compare(comparison_op::less_number, 0, 2), compare(comparison_op::equal, 0, 2)};
  EXPECT_TRUE(first_tests(pipeline_of({first}, {0}, 2, {7, 9})).empty());
  first.steps = {compare(comparison_op::equal, 0, 2)};
  first.steps.front().is_wide = true;
  EXPECT_TRUE(first_tests(pipeline_of({first}, {0}, 2, {7, 9})).empty());
  EXPECT_TRUE(first_tests(pipeline_of({segment()}, {0}, 2, {7, 9})).empty());
}

TEST_P(column_tests, rows_are_rejected_if_each_fails_a_test) {
  const relation_number source = add_relation(2);
  append(source, {{1, 5}, {2, 6}, {3, 5}});
  const auto rejects = [&](std::vector<column_test> tests, part_rows rows) {
    return rejects_all(tests, *relations()[source], rows);
  };
  EXPECT_TRUE(rejects({{0, 4, false}}, {0, 3}));
  EXPECT_FALSE(rejects({{0, 3, false}}, {0, 3}));
  EXPECT_TRUE(rejects({{0, 3, false}}, {0, 2}));
  EXPECT_TRUE(rejects({{0, 3, false}, {1, 5, true}}, {0, 3}));
  EXPECT_FALSE(rejects({{0, 3, true}, {1, 5, true}}, {0, 3}));
  EXPECT_TRUE(rejects({{1, 5, true}}, {2, 3}));
  EXPECT_TRUE(rejects({}, {1, 1}));
}

}  // namespace
}  // namespace gpulog::kernels::tile_runner_tests
