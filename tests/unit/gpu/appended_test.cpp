// Relations without tuple sets on a device: room for rows that come late, all at once, or not at all. Skipped
// where there is no device.

#include "random_on_device.hpp"

namespace gpulog::exec {
namespace {

using appended_on_gpu = on_gpu;

/// Runs a program, and looks at the rows of its relation r.
template <class Look>
void run_program(const std::string& rules, const cut_offs& cut, const Look& look) {
  const analysed_text source(".decl n(x:number)\nn(x) :- x = range(0, 3000).\n" + rules);
  const plan::program plan = plan::make_plan(source.program, {}, {});
  storage::symbol_table symbols(plan.symbols);
  options chosen;
  chosen.cut = cut;
  const auto running = make_gpu_executor(plan, symbols, chosen, 0, 0);
  running->evaluate();
  for (std::uint32_t number = 0; number < plan.relations.size(); ++number) {
    if (plan.relations[number].name != "r") continue;
    EXPECT_FALSE(plan.relations[number].needs_set);
    look(running->columns(relation_id(number)), running->rows(relation_id(number)));
  }
}

TEST_F(appended_on_gpu, pairs_that_pass_where_a_sample_has_none) {
  for (const std::uint64_t batch_rows : {cut_offs().batch_rows, std::uint64_t{0}}) {
    cut_offs cut;
    cut.batch_rows = batch_rows;
    run_program(".decl r(x:number, y:number)\nr(x, y) :- n(x), n(y), x >= 2900.\n", cut,
                [](const std::vector<const word*>& columns, std::uint64_t rows) {
                  ASSERT_EQ(rows, 300000);
                  std::vector<bool> seen(300000, false);
                  for (std::uint64_t row = 0; row < rows; ++row) {
                    ASSERT_LT(columns[0][row], 3000U);
                    ASSERT_LT(columns[1][row], 3000U);
                    seen.at((columns[0][row] - 2900) * 3000 + columns[1][row]) = true;
                  }
                  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 300000);
                });
  }
}

TEST_F(appended_on_gpu, sizes_release_only) {
  for (const int n : gpu_is_for_tests() ? std::vector<int>{0, 33} : std::vector<int>{0, 1, 31, 32, 33, 1000}) {
    const std::string text = ".decl r(x:number, y:number, z:number)\nr(x, y, x + y) :- n(x), n(y), x + y < ";
    run_program(text + std::to_string(n) + ".\n", {}, [n](const std::vector<const word*>& columns, std::uint64_t rows) {
      EXPECT_EQ(rows, static_cast<std::uint64_t>(n) * (n + 1) / 2);
      for (std::uint64_t row = 0; row < rows; ++row) ASSERT_EQ(columns[0][row] + columns[1][row], columns[2][row]);
    });
  }
}

TEST_F(appended_on_gpu, little_memory_release_only) {
  // What is too much ends with a message, and what is not has all rows, wherever memory runs out in between.
  const analysed_text source(
      ".decl n(x:number)\nn(x) :- x = range(0, 3000).\n.decl r(x:number, y:number)\nr(x, y) :- n(x), n(y), x >= 2000.\n"
      ".decl t(x:number, y:number)\nt(x, y) :- r(x, y), x + y < 3500.\nt(y, x) :- t(x, y), y < 2000.\n");
  const plan::program plan = plan::make_plan(source.program, {}, {});
  std::uint64_t finished = 0;
  std::uint64_t refused = 0;
  for (std::uint64_t limit = 8u << 20; limit < 400u << 20; limit += sized(limit / 6, 6 * limit)) {
    storage::symbol_table symbols(plan.symbols);
    try {
      const auto running = make_gpu_executor(plan, symbols, {}, 0, limit);
      running->evaluate();
      const auto rows = [&](const char* name) {
        for (std::uint32_t number = 0; number < plan.relations.size(); ++number) {
          if (plan.relations[number].name == name) return running->rows(relation_id(number));
        }
        return std::uint64_t{0};
      };
      EXPECT_EQ(rows("r"), 3000000) << limit;
      EXPECT_EQ(rows("t"), 2001000) << limit;
      ++finished;
    } catch (const memory_fault&) {
      ++refused;
    } catch (const backend::memory_exceeded&) {
      ++refused;  // there is not even enough to start with
    }
  }
  EXPECT_NE(finished, 0);
  EXPECT_NE(refused, 0);
}

/// All triangles of a ring with chords, by whatever search is the best for each edge.
TEST_F(appended_on_gpu, triangles_release_only) {
  const std::string rules =
      ".decl e(x:number, y:number)\ne(x, y) :- n(x), n(y), (x * 7 + y * 5) % 97 = 0.\n"
      "e(x, y) :- n(x), n(y), x % 500 = 0, x != y.\n"
      ".decl r(x:number, y:number, z:number)\nr(x, y, z) :- e(x, y), e(y, z), e(z, x).\n";
  const auto is_edge = [](word x, word y) { return (x * 7 + y * 5) % 97 == 0 || (x % 500 == 0 && x != y); };
  std::uint64_t expected = 0;
  std::vector<std::vector<word>> after(3000);
  for (word x = 0; x < 3000; ++x) {
    for (word y = 0; y < 3000; ++y) {
      if (is_edge(x, y)) after[x].push_back(y);
    }
  }
  for (word x = 0; x < 3000; ++x) {
    for (const word y : after[x]) {
      for (const word z : after[y]) expected += is_edge(z, x) ? 1 : 0;
    }
  }
  run_program(rules, {}, [&](const std::vector<const word*>& columns, std::uint64_t rows) {
    EXPECT_EQ(rows, expected);
    for (std::uint64_t row = 0; row < rows; ++row) {
      ASSERT_TRUE(is_edge(columns[0][row], columns[1][row]) && is_edge(columns[1][row], columns[2][row]) &&
                  is_edge(columns[2][row], columns[0][row]));
    }
  });
}

}  // namespace
}  // namespace gpulog::exec
