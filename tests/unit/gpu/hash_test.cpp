// Storage `hash`, `bits` and `words` on a device against the naive evaluator: iterations that the device runs by
// itself, versions that run together, and kernels that split work evenly, whatever the sizes; from one to the other in
// the middle of an iteration. Skipped where there is no device.

#include "oracle/abandoning_plan.hpp"
#include "random_on_device.hpp"

namespace gpulog::exec {
namespace {

device_way make_way(const std::string& name, const cut_offs& cut,
                    storage::set_choice sets = storage::set_choice::automatic) {
  device_way made{name, {}};
  made.chosen.storage = storage::storage_mode::hash;
  made.chosen.sets = sets;
  made.chosen.cut = cut;
  // Domains may be small.
  made.chosen.cut.bounded_rows = 0;
  return made;
}

cut_offs cut_at(std::uint64_t batch_rows, std::uint64_t loop_rows, std::uint64_t loop_run_rows) {
  cut_offs cut;
  cut.batch_rows = batch_rows;
  cut.loop_rows = loop_rows;
  cut.loop_run_rows = loop_run_rows;
  return cut;
}

using hash_on_gpu = on_gpu;

TEST_F(hash_on_gpu, random_programs) {
  const cut_offs usual;
  compare_random_programs(
      {make_way("usual", usual), make_way("no loops", cut_at(usual.batch_rows, 0, 1)),
       make_way("neither loops nor batches", cut_at(0, 0, 1)), make_way("tiny loops", cut_at(0, 3, 2)),
       make_way("tiny runs", cut_at(2, 20, 1)), make_way("small runs", cut_at(4, usual.loop_rows, 8)),
       make_way("bits", usual, storage::set_choice::bits), make_way("words", usual, storage::set_choice::words)},
      700000, 60);
}

TEST_F(hash_on_gpu, row_wise_random_programs) {
  using storage::set_choice;
  std::vector<device_way> ways;
  for (const auto& [name, sets] :
       {std::pair("rows", set_choice::automatic), std::pair("rows, hash", set_choice::hash),
        std::pair("rows, bits", set_choice::bits), std::pair("rows, words", set_choice::words)}) {
    ways.push_back(make_way(name, cut_at(0, 0, 1), sets));
    ways.back().chosen.rows = row_mode::always;
  }
  compare_random_programs(ways, 720000, 120);
}

TEST_F(hash_on_gpu, random_programs_whose_recursions_move_there) {
  std::vector<device_way> ways;
  for (std::uint64_t move_at = 0; move_at < 5; ++move_at) {
    ways.push_back(make_way("moves at " + std::to_string(move_at), cut_offs(),
                            move_at % 2 == 0 ? storage::set_choice::automatic : storage::set_choice::bits));
    ways.back().move_at = move_at;
  }
  compare_random_programs(ways, 710000, 60);
}

TEST_F(hash_on_gpu, random_programs_with_restrictions) {
  std::vector<device_way> ways = {make_way("usual", cut_offs()), make_way("no loops", cut_at(4096, 0, 1)),
                                  make_way("tiny loops", cut_at(0, 3, 2)),
                                  make_way("bits", cut_offs(), storage::set_choice::bits),
                                  make_way("words", cut_at(4096, 0, 1), storage::set_choice::words)};
  ways.push_back(make_way("moves", cut_offs()));
  ways.back().move_at = 1;
  compare_restricted_programs(ways, 720000, 300);
}

/// Supplementary relations are abandoned, and former orders return, by versions alone, in batches and in groups.
TEST_F(hash_on_gpu, random_programs_whose_supplementary_relations_are_abandoned) {
  const std::uint64_t first = oracle::first_seed(730000);
  const std::uint64_t count = oracle::programs_to_try(gpu_is_for_tests() ? 40 : 120);
  const std::vector<device_way> ways = {make_way("usual", cut_at(4096, 0, 1)), make_way("no batches", cut_at(0, 0, 1)),
                                        make_way("tiny batches", cut_at(3, 0, 1))};
  std::uint64_t abandoning = 0;
  std::uint64_t keeping = 0;
  std::uint64_t restoring = 0;
  for (std::uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    const std::string text = oracle::make_chain_program(seed);
    const analysed_text source(text);
    oracle::database expected(source.program);
    oracle::evaluate(source.program, expected);
    const device_way& how = ways[seed % ways.size()];
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + how.name + "\n" + text);
    oracle::abandoning_plan planned(source.program, seed);
    storage::symbol_table symbols(planned.plan().symbols);
    const auto running = make_gpu_executor(planned.plan(), symbols, planned.options_of_run(how.chosen), 0, 0);
    planned.watch(*running);
    running->evaluate();
    expect_same(*running, source.program, expected);
    ++(planned.abandoned() != 0 ? abandoning : keeping);
    restoring += planned.put_back() != 0 ? 1 : 0;
  }
  constexpr std::uint64_t rarest = 40;  // far below the usual shares of the programs
  if (count < rarest) return;
  EXPECT_GT(abandoning, count / rarest);
  EXPECT_GT(keeping, count / rarest);
  EXPECT_GT(restoring, count / rarest);
}

/// A walk along a chain through relations that wait for each other.
std::string walk(int steps) {
  std::string text =
      ".decl e(x:number, y:number)\n.decl at(x:number)\nat(0).\nat(y) :- at(x), e(x, y).\n"
      ".decl odd(x:number)\nodd(x) :- at(x), x % 2 = 1.\n"
      ".decl mark(x:number, k:number)\nmark(x, 1) :- odd(x), e(x, _).\nmark(x, 0) :- at(x), e(x, _).\n"
      ".decl seen(x:number, y:number, k:number)\nseen(x, y, k) :- mark(x, k), e(x, y), at(x).\n"
      ".decl back(x:number)\nback(x) :- seen(x, y, _), y < x, !e(y, y).\nat(y) :- back(x), e(x, y).\n"
      ".decl any()\nany() :- seen(_, _, _).\nback(x) :- any(), odd(x), mark(x, 0), x < 10.\n";
  for (int i = 0; i < steps; ++i) text += "e(" + std::to_string(i) + "," + std::to_string(i + 1) + ").\n";
  return text;
}

TEST_F(hash_on_gpu, long_walks_take_one_launch_for_many_iterations_release_only) {
  const auto steps = static_cast<int>(sized(3000, 300));
  const analysed_text source(walk(steps));
  const plan::program plan = oracle::loops_only(plan::make_plan(source.program));
  std::vector<device_tuples> results;
  for (const auto& cut : {cut_offs(), cut_at(4096, 0, 1), cut_at(4096, 65536, 16), cut_at(16, 2, 2048)}) {
    storage::symbol_table symbols(plan.symbols);
    const auto running = make_gpu_executor(plan, symbols, make_way("", cut).chosen, 0, 0);
    running->evaluate();
    std::uint64_t iterations = 0;
    std::uint64_t looped = 0;
    for (const stratum_statistics& stratum : running->figures().strata) {
      iterations += stratum.iterations;
      looped += stratum.looped_iterations;
    }
    EXPECT_GT(iterations, static_cast<std::uint64_t>(steps));
    if (cut.loop_rows == 0) {
      EXPECT_EQ(looped, 0U);
    } else {
      EXPECT_GT(looped, iterations / 2);
    }
    std::size_t next = 0;
    for (const char* name : {"at", "odd", "mark", "seen", "back", "any"}) {
      device_tuples rows = rows_of(*running, source.program.find_relation(name).value());
      if (results.size() == next) results.push_back(rows);
      EXPECT_EQ(rows, results[next++]) << name;
    }
    EXPECT_EQ(results[0].size(), static_cast<std::uint64_t>(steps + 1));
  }
}

/// Threads of different blocks offer each tuple a thousand times at once.
TEST_F(hash_on_gpu, wide_tuples_that_many_threads_offer_are_rows_once) {
  const std::uint64_t offers = sized(1000, 100);
  const analysed_text source(".decl k(x:number)\nk(x) :- x = range(0, " + std::to_string(offers) +
                             ").\n.decl e(x:number, y:number)\ne(x, x * 7 % 10) :- x = range(0, 40).\n"
                             ".decl r(x:number, y:number, z:number)\nr(x, y, x % 3) :- k(_), e(x, y).\n"
                             ".decl s(x:number, y:number, z:number, w:number)\ns(x, y, z, x + z) :- r(x, y, _), k(z).\n"
                             "s(x, y, z, x + z) :- k(z), r(x, y, _), s(x, y, z, _).\n");
  const plan::program plan = plan::make_plan(source.program);
  for (const auto& cut : {cut_offs(), cut_at(0, 0, 1)}) {
    storage::symbol_table symbols(plan.symbols);
    const auto running = make_gpu_executor(plan, symbols, make_way("", cut).chosen, 0, 0);
    running->evaluate();
    device_tuples expected_r;
    device_tuples expected_s;
    for (wide_word x = 0; x < 40; ++x) {
      expected_r.insert({x, x * 7 % 10, x % 3});
      for (wide_word z = 0; z < offers; ++z) expected_s.insert({x, x * 7 % 10, z, x + z});
    }
    EXPECT_EQ(rows_of(*running, source.program.find_relation("r").value()), expected_r);
    EXPECT_EQ(rows_of(*running, source.program.find_relation("s").value()), expected_s);
  }
}

TEST_F(hash_on_gpu, indexes_over_deltas_of_many_rows_find_all_of_them_release_only) {
  const std::uint64_t nodes = sized(300, 120);
  std::string text =
      ".decl e(x:number, y:number)\n.decl a(x:number, y:number)\n.decl b(x:number, y:number)\na(x, y) :- e(x, y).\n"
      "a(x, z) :- b(x, y), a(y, z).\nb(x, y) :- a(x, y), x != y.\n";
  for (std::uint64_t i = 1; i < nodes; ++i) text += "e(" + std::to_string(i - 1) + "," + std::to_string(i) + ").\n";
  const analysed_text source(text);
  const plan::program plan = oracle::loops_only(plan::make_plan(source.program));
  using storage::set_choice;
  for (const set_choice sets : {set_choice::automatic, set_choice::hash, set_choice::words}) {
    storage::symbol_table symbols(plan.symbols);
    const auto running = make_gpu_executor(plan, symbols, make_way("", cut_at(0, 0, 1), sets).chosen, 0, 0);
    running->evaluate();
    EXPECT_EQ(running->rows(source.program.find_relation("a").value()), nodes * (nodes - 1) / 2);
  }
}

TEST_F(hash_on_gpu, a_division_by_zero_inside_a_loop_names_its_rule) {
  const analysed_text source(
      ".decl n(x:number)\nn(20).\nn(x - 1) :- n(x), x > -5.\n.decl q(x:number)\nq(100 / x) :- n(x).\n"
      "n(x) :- q(x), x > 1000.\n");
  const plan::program plan = oracle::loops_only(plan::make_plan(source.program));
  storage::symbol_table symbols(plan.symbols);
  const auto running = make_gpu_executor(plan, symbols, make_way("", {}).chosen, 0, 0);
  try {
    running->evaluate();
    FAIL() << "no fault";
  } catch (const evaluation_fault& fault) {
    EXPECT_STREQ(
        fault.what(),
        "Floating-point arithmetic exception signal in rule:\nq((100/x)) :- n(x).\nin file test.dl [5:1-5:20]");
  }
}

}  // namespace
}  // namespace gpulog::exec
