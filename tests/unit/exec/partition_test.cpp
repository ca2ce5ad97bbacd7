// Relations whose rows ranks divide by the value in a column. The ranks are threads of the test.

#include "exec/ranks/partition.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "analysed_text.hpp"
#include "exec/ranks/rank_divider.hpp"
#include "exec/ranks/version_share.hpp"
#include "oracle/rank_threads.hpp"
#include "plan/validate.hpp"
#include "plan_run.hpp"
#include "rank_runs.hpp"

namespace gpulog::exec {
namespace {

const std::string some_edges = R"(
.decl edge(x:number, y:number)
edge(x, (x * 7 + 3) % 101) :- x = range(0, 101).
edge(x, (x * 5 + 1) % 103) :- x = range(0, 103).
)";
const std::string partitioned_closure = some_edges + R"(
.decl reach(x:number, y:number)
reach(x, y) :- edge(x, y).
reach(x, z) :- reach(x, y), edge(y, z).
)";

/// Returns, for instance, "edge 0, reach 1": the partition columns after all strata, in the order of names.
std::string partition_of(const std::string& text) {
  const analysed_text source(text);
  const plan::program plan = plan::make_plan(source.program, {}, {});
  partition_columns columns;
  for (std::size_t number = 0; number < plan.strata.size(); ++number) {
    if (const auto found = find_partition(plan, number, columns)) columns = *found;
  }
  std::map<std::string, std::uint32_t> named;
  for (const auto& [relation, column] : columns) named[plan.relations[relation.value].name] = column;
  std::string described;
  for (const auto& [name, column] : named)
    described += (described.empty() ? "" : ", ") + name + fmt::format(" {}", column);
  return described;
}

/// Relations of inputs are not partitioned, because each rank needs all rows of an input.
std::string closure_and(const std::string& rules) {
  return ".decl edge(x:number, y:number)\n.input edge\n" + partitioned_closure.substr(some_edges.size()) + rules;
}

TEST(partition, left_linear_rules_keep_their_source) { EXPECT_EQ(partition_of(closure_and("")), "reach 0"); }

TEST(partition, right_linear_rules_keep_their_target) {
  EXPECT_EQ(partition_of(R"(
.decl edge(x:number, y:number)
.input edge
.decl reach(x:number, y:number)
reach(x, y) :- edge(x, y).
reach(x, z) :- edge(x, y), reach(y, z).
)"),
            "reach 1");
}

TEST(partition, mutual_recursion_has_corresponding_columns) {
  EXPECT_EQ(partition_of(R"(
.decl edge(x:number, y:number)
.input edge
.decl odd(x:number, y:number)
.decl even(y:number, x:number)
odd(x, y) :- edge(x, y).
even(z, x) :- odd(x, y), edge(y, z).
odd(x, z) :- even(y, x), edge(y, z).
)"),
            "even 1, odd 0");
}

TEST(partition, recursion_that_passes_no_value_has_none) {
  EXPECT_EQ(partition_of(R"(
.decl parent(x:number, y:number)
.input parent
.decl same(x:number, y:number)
same(x, y) :- parent(z, x), parent(z, y).
same(x, y) :- parent(a, x), same(a, b), parent(b, y).
)"),
            "");
}

TEST(partition, readers_of_one_source_are_partitioned) {
  EXPECT_EQ(partition_of(closure_and(".decl cyclic(x:number)\ncyclic(x) :- reach(x, x).\n")), "cyclic 0, reach 0");
  EXPECT_EQ(partition_of(closure_and(".decl acyclic(x:number)\nacyclic(x) :- edge(x, _), !reach(x, x).\n")),
            "acyclic 0, reach 0");
  EXPECT_EQ(partition_of(closure_and(".decl size(n:number, x:number)\n"
                                     "size(n, x) :- edge(x, _), n = count : { reach(x, _) }.\n")),
            "reach 0, size 1");
  EXPECT_EQ(
      partition_of(closure_and(".decl fork(y:number, x:number)\nfork(y, x) :- reach(x, y), reach(x, z), y < z.\n")),
      "fork 1, reach 0");
}

TEST(partition, readers_of_several_sources_are_not) {
  EXPECT_EQ(partition_of(closure_and(".decl found(y:number)\nfound(y) :- reach(_, y).\n")), "reach 0");
  EXPECT_EQ(partition_of(closure_and(".decl both(x:number, y:number)\nboth(x, y) :- reach(x, y), reach(y, x).\n")),
            "reach 0");
  EXPECT_EQ(partition_of(closure_and(".decl none(x:number)\nnone(x) :- edge(x, _), !reach(_, x).\n")), "reach 0");
  EXPECT_EQ(partition_of(closure_and(".decl size(x:number, n:number)\n"
                                     "size(x, n) :- edge(x, _), n = count : { reach(_, x) }.\n")),
            "reach 0");
  EXPECT_EQ(partition_of(closure_and(".decl any(x:number)\nany(x) :- edge(x, _), reach(_, _).\n")), "reach 0");
}

/// Each row belongs to exactly one rank, together with all rows of the same value.
TEST(partition, ranks_have_parts_of_a_relation) {
  const analysed_text source(partitioned_closure);
  const relation_id reach(1);
  const plan::program plan = plan::make_plan(source.program, {}, {});
  plan_run whole(plan, {});
  whole->evaluate();
  tuples all;
  std::size_t sum = 0;
  for (unsigned rank = 0; rank < 3; ++rank) {
    plan::program part = plan;
    for (plan::stratum& stratum : part.strata) {
      for (plan::rule_version& version : stratum.once.versions) {
        if (version.head == reach) version = share_of(version, {{rank, 3}, partition_columns{{reach, 0}}}).value();
      }
      for (plan::phase& phase : stratum.loop) {
        for (const plan::rule_version& version : phase.versions)
          EXPECT_EQ(share_of(version, {{rank, 3}, partition_columns{{reach, 0}}}), std::nullopt);
      }
    }
    EXPECT_EQ(plan::validate(part), std::vector<std::string>());
    plan_run run(part, {});
    run->evaluate();
    const tuples rows = run.rows_of(reach);
    all.insert(rows.begin(), rows.end());
    sum += rows.size();
    EXPECT_GT(rows.size(), 1000U);
  }
  EXPECT_EQ(all, whole.rows_of(reach));
  EXPECT_EQ(sum, all.size());
}

TEST(partition, rows_are_gathered_for_readers_of_several_sources) {
  const std::string text = partitioned_closure + ".decl found(y:number)\nfound(y) :- reach(_, y).\n";
  const analysed_text source(text);
  const plan::program plan = plan::make_plan(source.program, {}, {});
  plan_run whole(plan, {});
  whole->evaluate();
  evaluate_on_ranks(text, {}, [&whole](plan_run* run, const std::string& failure) {
    ASSERT_EQ(failure, "");
    for (const relation_id relation : {relation_id(1), relation_id(2)}) {
      EXPECT_EQ((*run)->rows(relation), whole->rows(relation));
      EXPECT_EQ(run->rows_of(relation), whole.rows_of(relation));
    }
  });
}

/// Several threads write a relation and read overlapping relations at the same time.
TEST(partition, rows_are_streamed) {
  const analysed_text source(partitioned_closure);
  const plan::program plan = plan::make_plan(source.program, {}, {});
  plan_run whole(plan, {});
  whole->evaluate();
  const relation_id reach(1);
  evaluate_on_ranks(partitioned_closure, {}, [&](plan_run* run, const std::string& failure) {
    ASSERT_EQ(failure, "");
    const std::uint64_t rows = (*run)->rows(reach);
    std::vector<std::vector<word>> columns(2, std::vector<word>(rows));
    std::vector<std::unique_ptr<row_stream>> streams;
    for (int i = 0; i < 2; ++i) streams.push_back((*run)->stream_rows(reach));
    ASSERT_NE(streams.front(), nullptr);
    constexpr std::uint64_t step = 1000;
    std::vector<std::jthread> threads;
    for (std::uint64_t of_thread = 0; of_thread < 4; ++of_thread) {
      threads.emplace_back([&, of_thread] {
        for (std::uint64_t first = of_thread / 2 * step; first < rows; first += 2 * step) {
          const std::uint64_t n = std::min(step, rows - first);
          std::vector<word> unused(2 * n);
          if (of_thread % 2 == 1) {
            const std::vector<word*> to = {unused.data(), unused.data() + n};
            streams[1]->read(first, n, to.data());
          } else {
            const std::vector<word*> to = {columns[0].data() + first, columns[1].data() + first};
            streams[0]->read(first, n, to.data());
          }
        }
      });
    }
    threads.clear();
    tuples all;
    for (std::uint64_t row = 0; row < rows; ++row) all.insert({columns[0][row], columns[1][row]});
    EXPECT_EQ(all, whole.rows_of(reach));
    EXPECT_EQ(all.size(), rows);
  });
}

/// If ranks divide the bindings of a stratum, each rank has all rows. If ranks partition the stratum, each rank has a
/// third of the rows.
TEST(partition, ranks_share_what_exceeds_the_memory_of_a_follower) {
  const analysed_text source(some_edges + R"(
.decl pair(x:number, y:number, z:number)
pair(x, y, z) :- edge(x, y), edge(z, _), x != z.
)");
  const relation_id pair(1);
  plan::program plan = plan::make_plan(source.program, {}, {});
  for (plan::stratum& stratum : plan.strata) {
    for (plan::rule_version& version : stratum.once.versions) {
      if (version.head != pair) continue;
      std::fill(version.estimates.begin(), version.estimates.end(), 1e12);  // so that ranks divide the bindings
      version.estimates.front() = 1;
      version.estimates.back() = 0;
    }
  }
  plan_run whole(plan, {});
  whole->evaluate();
  const std::uint64_t limit = whole->figures().peak_memory_bytes * 7 / 10;
  for (const bool is_limited : {false, true}) {
    oracle::on_ranks(3, [&](ranks::rank_group& group) {
      rank_divider divider(group, {.memory_limit = is_limited ? limit : 0, .exchanged_row_seconds = 0},
                           tuning_mode::automatic);
      options chosen;
      chosen.divider = &divider;
      divider.begin_program();
      plan_run run(plan, {}, 0, chosen);
      run->evaluate();
      EXPECT_EQ(run->figures().strata.back().strategies, std::vector<std::string>({"versions on all ranks"}));
      EXPECT_EQ(divider.rows_elsewhere(pair, side::host).has_value(), is_limited);
      EXPECT_EQ(run.rows_of(pair), whole.rows_of(pair));
    });
  }
}

/// A second attempt would lose the facts of the relation.
TEST(partition, relations_with_facts_are_evaluated_once) {
  const std::string text = partitioned_closure + "reach(5, 6).\n";
  const analysed_text source(text);
  const plan::program plan = plan::make_plan(source.program, {}, {});
  plan_run whole(plan, {});
  whole->evaluate();
  const std::uint64_t limit = whole->figures().peak_memory_bytes / 2;
  oracle::on_ranks(3, [&](ranks::rank_group& group) {
    rank_divider divider(group, {}, tuning_mode::automatic);
    options chosen;
    chosen.divider = &divider;
    divider.begin_program();
    plan_run run(plan, {}, limit, chosen);
    EXPECT_THROW(run->evaluate(), memory_fault);
  });
}

/// The expected time of the stratum does not matter.
TEST(partition, ranks_share_what_exceeds_the_memory_of_one) {
  const std::string text = some_edges + R"(
.decl walk(x:number, n:number, y:number)
walk(x, x % 7, y) :- edge(x, y).
walk(x, n, z) :- walk(x, n, y), edge(y, z), (y + z) % 7 != n.
)";
  const relation_id walk(1);
  const analysed_text source(text);
  const plan::program plan = plan::make_plan(source.program, {}, {});
  plan_run whole(plan, {});
  whole->evaluate();
  const std::uint64_t limit = whole->figures().peak_memory_bytes * 7 / 10;
  plan_run alone(plan, {}, limit);
  EXPECT_THROW(alone->evaluate(), memory_fault);
  oracle::on_ranks(3, [&](ranks::rank_group& group) {
    rank_divider divider(group, {.memory_limit = limit}, tuning_mode::automatic);
    options chosen;
    chosen.divider = &divider;
    divider.begin_program();
    plan_run run(plan, {}, limit, chosen);
    run->evaluate();
    EXPECT_EQ(run->figures().strata.back().strategies,
              std::vector<std::string>({"versions on all ranks", "loop on all ranks"}));
    EXPECT_EQ(run->rows(walk), whole->rows(walk));
    EXPECT_EQ(run.rows_of(walk), whole.rows_of(walk));
  });
}

/// Without the fault, the ranks would need hours.
TEST(partition, a_fault_stops_the_other_ranks) {
  for (const std::string zero : {"1", "2", "3", "4", "5"}) {
    const std::string text = ".decl start(x:number)\nstart(x) :- x = range(0, 100).\n" +
                             (".decl walk(x:number, n:number, q:number)\nwalk(x, 0, 0) :- start(x).\n" +
                              ("walk(x, n + 1, 10 / (x - " + zero) + ")) :- walk(x, n, _), n < 1000000000.\n");
    evaluate_on_ranks(text, {}, [&zero](plan_run*, const std::string& failure) {
      EXPECT_EQ(failure, "Floating-point arithmetic exception signal in rule:\nwalk(x,(n+1),(10/(x-" + zero +
                             "))) :- walk(x,n,_), n < 1000000000.\nin file test.dl [5:1-5:63]");
    });
  }
}

TEST(partition, a_rank_without_memory_ends_the_run) {
  evaluate_on_ranks(partitioned_closure, {.memory_limit = 20000}, [](plan_run*, const std::string& failure) {
    EXPECT_EQ(
        message_of_follower(failure),
        "Out of memory while extending relation edge (0 tuples, 8192 bytes): 12288 more bytes were needed with 16384 "
        "bytes in use, and the limit is 20000 bytes (raise it with memory_limit, or name a folder with spill)\n"
        "in rule:\nedge(x,(((x*7)+3)%101)) :- x = range(0,101).\nin file test.dl [3:1-3:49]");
  });
}

}  // namespace
}  // namespace gpulog::exec
