// Storage `hisa` on a device against the naive evaluator: with a `new` so small that it is full again and again
// within a join, with and without eager buffer management, with too little memory. Skipped where there is no device.

#include "random_on_device.hpp"

namespace gpulog::exec {
namespace {

/// @param candidate_rows 0: as many as memory allows
device_way make_way(std::uint64_t candidate_rows, bool eager_buffers) {
  device_way made{"new of " + std::to_string(candidate_rows), {}};
  made.chosen.storage = storage::storage_mode::hisa;
  made.chosen.buffers.eager = eager_buffers;
  made.chosen.cut.candidate_rows = candidate_rows;
  return made;
}

using hisa_on_gpu = on_gpu;

TEST_F(hisa_on_gpu, random_programs) {
  compare_random_programs(
      {make_way(0, true), make_way(1, true), make_way(7, false), make_way(200, true), make_way(1000, false)}, 500000,
      300);
}

TEST_F(hisa_on_gpu, random_programs_whose_recursions_move_there) {
  std::vector<device_way> ways(3, make_way(200, true));
  for (std::uint64_t move_at = 0; move_at < ways.size(); ++move_at) ways[move_at].move_at = move_at;
  compare_random_programs(ways, 510000, 60);
}

TEST_F(hisa_on_gpu, random_programs_with_restrictions) {
  std::vector<device_way> ways = {make_way(0, true), make_way(7, false), make_way(200, true)};
  ways.back().move_at = 1;
  compare_restricted_programs(ways, 520000, 600);
}

TEST_F(hisa_on_gpu, too_little_memory_is_reported_and_enough_is_enough_release_only) {
  // All pairs of the nodes of a circle, by a rule that offers each pair as often as there are nodes.
  std::string text = ".decl e(x:number, y:number)\n.decl t(x:number, y:number)\n";
  const auto nodes = static_cast<int>(sized(300, 90));
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
      const auto running = make_gpu_executor(plan, symbols, make_way(0, true).chosen, 0, limit);
      running->evaluate();
      EXPECT_EQ(running->rows(result), static_cast<std::uint64_t>(nodes) * static_cast<std::uint64_t>(nodes));
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
