// First matches on a device: the relations are the same as with all matches, and candidates are counted. Skipped
// without a device.

#include "random_on_device.hpp"

namespace gpulog::exec {
namespace {

using first_matches_on_gpu = on_gpu;
using pairs = std::vector<std::pair<word, word>>;

struct outcome {
  device_tuples rows;
  std::uint64_t candidates = 0;
};

enum class where : std::uint8_t { cpu, device };

outcome run(const std::string& rules, const pairs& edges, const options& chosen, bool with_pass,
            where machine = where::device) {
  const analysed_text source(".decl e(x:number, y:number)\n.input e\n" + rules);
  plan::options planning;
  if (!with_pass) planning.modes.set("first-matches", tuning_mode::off);
  const plan::program plan = plan::make_plan(source.program, {}, planning);
  storage::symbol_table symbols(plan.symbols);
  backend::host_memory host_memory;
  std::unique_ptr<executor> running;
  if (machine == where::device) {
    running = make_gpu_executor(plan, symbols, chosen, 0, 0);
  } else {
    running = make_cpu_executor(plan, symbols, host_memory, chosen);
  }
  std::vector<word> from, to;
  for (const auto& [x, y] : edges) {
    from.push_back(x);
    to.push_back(y);
  }
  running->load(source.program.find_relation("e").value(), {from.data(), to.data()}, edges.size());
  running->evaluate();
  outcome result;
  result.rows = rows_of(*running, source.program.find_relation("r").value());
  for (const stratum_statistics& one : running->figures().strata) {
    for (const version_statistics& version : one.versions) result.candidates += version.candidates;
  }
  return result;
}

/// Two keys, each with a third of the rows.
pairs skewed(word third) {
  pairs edges;
  for (word i = 0; i < third; ++i) edges.insert(edges.end(), {{0, i}, {i, 1}, {i, i * 5 % third}});
  return edges;
}

/// In kernels for a version or an expansion, in nested loops with others, and in one kernel for all iterations.
std::vector<options> ways() {
  std::vector<options> all(3);
  for (options& one : all) one.cut.loop_rows = 0;
  all[0].cut.batch_rows = 0;
  all[2].cut.loop_rows = 65536;
  return all;
}

TEST_F(first_matches_on_gpu, give_what_all_matches_give) {
  const pairs edges = skewed(oracle::is_sanitized ? 60 : 100);
  for (const std::string rules : {
           ".decl r(x:number)\nr(x) :- e(x,k), e(x,j), k != j.\n",
           ".decl r(x:number)\nr(x) :- e(x,k), e(0,j), j > k + 60.\n",  // found late, or not at all
           ".decl r(x:number)\nr(x) :- e(x,y), e(z,w), z + w > y + 150.\n",
           ".decl r(x:number)\nr(x + k) :- e(x,k), e(x,j), k < j, x < 60.\n",
           ".decl r(x:number)\nr(x) :- e(x,y), e(y,z), e(z,w), w > x, z != x.\n",
           ".decl r(x:number, y:number)\nr(x,y) :- e(x,y), e(y,z), z != x.\n",
           ".decl r(x:number, y:number)\nr(x,y) :- e(x,z), e(z,y), z < y, e(y,w), w != z, w != x.\n",
           ".decl r(x:number, y:number)\nr(x,y) :- e(x,y), x < 20.\nr(x,y) :- r(x,z), e(z,y), e(y,v), v != z, y < "
           "40.\n",
           ".decl r(x:number, y:number, z:number)\nr(x,y,x+y) :- e(x,y), e(y,z), z > 95, !e(y,x).\n",
           ".decl r(x:number)\nr(x) :- e(x,k), e(x,j), e(x,l), k != j, j != l, k != l.\n",
           ".decl r(x:number)\nr(x) :- e(x,y), x < 5, e(y,z), e(z,w), w > 97.\n",  // few, many or no inner rows
           ".decl r(x:number)\nr(x) :- e(x,y), x < 5, e(y,z), e(z,w), e(w,v), v + w + z > 290.\n",
           ".decl r(x:number, y:number)\nr(x,y) :- e(x,y), e(y,z), e(z,w), w > x + z, e(y,v), v > x, e(v,u), u < y.\n",
           ".decl r(x:number, n:number)\nr(x, n) :- e(x,_), n = count : { e(x,y), e(y,z), e(z,w), w > x }.\n",
           // Computed after a first match of several atoms, which the lanes of a wave find together.
           ".decl r(x:number)\nr(x / 2) :- e(x,y), x < 5, e(y,z), e(z,w), w > 97.\n",
           ".decl r(x:number)\nr(x / 2) :- e(x,y), e(y,z), e(z,w), w > x, z != x.\n",
           ".decl r(x:number)\nr(x / 2) :- e(x,y), x < 5, e(y,z), e(z,w), e(w,v), v + w + z > 290.\n",
           ".decl r(x:number)\nr(y) :- e(0,y).\n",  // the first atom has keys, and all its matches are wanted
           ".decl r()\nr() :- e(x,y), e(0,z), z > x + 90, y > 90.\n",
           ".decl r()\nr() :- e(x,y), e(0,z), z > x + 200, y > 90.\n",
       }) {
    const outcome on_cpu = run(rules, edges, ways().front(), false, where::cpu);
    for (const options& chosen : ways()) {
      SCOPED_TRACE(rules + std::to_string(chosen.cut.batch_rows) + " " + std::to_string(chosen.cut.loop_rows));
      const outcome all = run(rules, edges, chosen, false);
      const outcome first = run(rules, edges, chosen, true);
      EXPECT_EQ(first.rows, on_cpu.rows);
      EXPECT_EQ(all.rows, on_cpu.rows);
      // A wave may examine rows again that a thread has examined alone. Nested loops count only tuples.
      if (chosen.cut.batch_rows == 0) EXPECT_LE(first.candidates, 2 * all.candidates);
    }
  }
}

TEST_F(first_matches_on_gpu, do_not_look_at_all_pairs_of_a_large_key) {
  const pairs edges = skewed(static_cast<word>(sized(20000, 1000)));
  for (const options& chosen : ways()) {
    const outcome multiple = run(".decl r(x:number)\nr(x) :- e(x,k), e(x,j), k != j.\n", edges, chosen, true);
    EXPECT_GE(multiple.rows.size(), edges.size() / 4);
    EXPECT_LE(multiple.candidates, 2 * edges.size());
    const outcome star =
        run(".decl r(x:number)\nr(x) :- e(x,k), e(x,j), e(x,l), k != j, j != l, k != l.\n", edges, chosen, true);
    EXPECT_GE(star.rows.size(), 1U);
    EXPECT_LE(star.candidates, 5 * edges.size());
  }
}

TEST_F(first_matches_on_gpu, look_at_all_matches_where_none_passes) {
  const pairs edges = skewed(100);
  options chosen = ways().front();
  const outcome none = run(".decl r(x:number)\nr(x) :- e(x,k), e(0,j), j > k + 300.\n", edges, chosen, true);
  EXPECT_TRUE(none.rows.empty());
  const std::size_t distinct = std::set(edges.begin(), edges.end()).size();
  EXPECT_EQ(none.candidates, distinct * 100);  // (0, j)
}

}  // namespace
}  // namespace gpulog::exec
