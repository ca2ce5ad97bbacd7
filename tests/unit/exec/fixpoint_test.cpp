// Plans made by hand: results, figures, limits and stops of the executor.

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/join/pipeline.hpp"
#include "oracle/without_sizes.hpp"
#include "plan/validate.hpp"
#include "plan_run.hpp"
#include "storage/relation/relation.hpp"

namespace gpulog::exec {
namespace {

plan::operand slot(std::uint32_t number) { return plan::operand::slot(slot_id(number)); }
plan::operand constant(word value) { return plan::operand::constant(value); }

plan::relation relation_of(const std::string& name, std::size_t arity) {
  plan::relation made;
  made.name = name;
  for (std::size_t c = 0; c < arity; ++c) {
    made.attribute_names.push_back("c" + std::to_string(c));
    made.kinds.push_back(value_kind::number);
  }
  return made;
}

plan::rule_version version_of(std::uint32_t rule, relation_id head, std::uint32_t slots,
                              std::vector<plan::operation> operations, const std::string& text) {
  plan::rule_version made;
  made.rule = rule_id(rule);
  made.head = head;
  made.slot_count = slots;
  made.slot_names.assign(slots, "v");
  made.slot_kinds.assign(slots, value_kind::number);
  made.operations = std::move(operations);
  made.text = text;
  made.location = "hand.dl [1:1-1:9]";
  made.estimates.assign(made.operations.size(), 1);
  return made;
}

/// Relations that no rule derives are a stratum without rules.
plan::stratum stratum_of_inputs(std::vector<relation_id> relations) {
  plan::stratum made;
  made.relations = std::move(relations);
  return made;
}

/// reach(x,y) :- edge(x,y).  reach(x,y) :- reach(x,z), edge(z,y).
struct closure_plan {
  relation_id edge{0};
  relation_id reach{1};
  plan::program plan;

  closure_plan() {
    plan.relations = {relation_of("edge", 2), relation_of("reach", 2)};
    plan.indexes = {{edge, {0, 1}, {1}, {1}}};
    plan::stratum stratum;
    stratum.relations = {reach};
    stratum.recursive = true;
    stratum.once.versions.push_back(version_of(
        0, reach, 2,
        {plan::scan{edge, row_part::all, {{0, slot_id(0)}, {1, slot_id(1)}}}, plan::insert{reach, {slot(0), slot(1)}}},
        "reach(x,y) :- edge(x,y)."));
    plan::phase loop;
    loop.versions.push_back(version_of(1, reach, 3,
                                       {plan::scan{reach, row_part::delta, {{0, slot_id(0)}, {1, slot_id(1)}}},
                                        plan::match{edge, row_part::all, index_id(0), {slot(1)}, {{1, slot_id(2)}}},
                                        plan::insert{reach, {slot(0), slot(2)}}},
                                       "reach(x,y) :- reach(x,z), edge(z,y)."));
    loop.versions.back().delta_atom = 0;
    loop.advance = {reach};
    stratum.loop = {loop};
    plan.strata = {stratum_of_inputs({edge}), stratum};
  }
};

std::vector<tuple> path_of(word nodes) {
  std::vector<tuple> edges;
  for (word node = 0; node + 1 < nodes; ++node) edges.push_back({node, node + 1});
  return edges;
}

class fixpoint : public ::testing::TestWithParam<run_mode> {
 protected:
  tbb::global_control more_threads{tbb::global_control::max_allowed_parallelism, 4};
};
INSTANTIATE_TEST_SUITE_P(modes, fixpoint, ::testing::ValuesIn(all_run_modes()),
                         [](const auto& info) { return name_of(info.param); });

/// Work for a single worker allocates no memory for further workers: clearing the memory would take time.
TEST(small_fixpoints, take_as_much_memory_with_many_threads_as_with_one) {
  const closure_plan closure;
  for (const storage::storage_mode storage : {storage::storage_mode::hash, storage::storage_mode::hisa}) {
    const auto peak_with = [&](unsigned threads) {
      run_mode mode;
      mode.storage = storage;
      mode.threads = threads;
      // Ignores the time of the last run, which depends on the load of the machine.
      options chosen;
      chosen.cut.parallel_candidates = 1e15;
      plan_run run(closure.plan, mode, 0, chosen);
      run.load(closure.edge, 2, path_of(20));
      run->evaluate();
      EXPECT_EQ(run->rows(closure.reach), 20U * 19 / 2);
      return run->figures().peak_memory_bytes;
    };
    EXPECT_EQ(peak_with(16), peak_with(1));
  }
}

TEST_P(fixpoint, closure_of_a_path_and_its_figures) {
  const closure_plan closure;
  ASSERT_EQ(plan::validate(closure.plan), std::vector<std::string>());
  for (const word nodes : {0U, 1U, 2U, 33U, 120U}) {
    std::vector<progress> reports;
    options chosen;
    chosen.on_progress = [&](const progress& now) { reports.push_back(now); };
    plan_run run(closure.plan, GetParam(), 0, chosen);
    run.load(closure.edge, 2, path_of(nodes));
    run->evaluate();
    tuples expected;
    for (word from = 0; from < nodes; ++from) {
      for (word to = from + 1; to < nodes; ++to) expected.insert({from, to});
    }
    bool distinct = false;
    EXPECT_EQ(run.rows_of(closure.reach, &distinct), expected);
    EXPECT_TRUE(distinct);
    EXPECT_EQ(run->rows(closure.edge), nodes == 0 ? 0 : nodes - 1);

    const statistics& figures = run->figures();
    ASSERT_EQ(figures.strata.size(), 2U);
    const stratum_statistics& stratum = figures.strata[1];
    const std::uint64_t iterations = nodes < 2 ? 0 : nodes - 1;
    EXPECT_EQ(stratum.iterations, iterations);
    ASSERT_EQ(stratum.versions.size(), 2U);
    EXPECT_EQ(stratum.versions[0].runs, nodes < 2 ? 0 : 1);
    EXPECT_EQ(stratum.versions[0].candidates, iterations);
    EXPECT_EQ(stratum.versions[1].delta_atom, 0);
    EXPECT_EQ(stratum.versions[1].runs, iterations);
    EXPECT_EQ(stratum.versions[1].candidates, expected.size() - iterations) << "a path has no duplicates";
    if (GetParam().storage == storage::storage_mode::hash) {
      EXPECT_EQ(stratum.versions[0].tuples + stratum.versions[1].tuples, expected.size());
    }
    ASSERT_EQ(stratum.relations.size(), 1U);
    EXPECT_EQ(stratum.relations[0].relation, closure.reach);
    EXPECT_EQ(stratum.relations[0].rows, expected.size());
    EXPECT_GE(stratum.relations[0].bytes, 8 * expected.size());
    EXPECT_GE(stratum.seconds, stratum.join_seconds);
    EXPECT_GE(stratum.join_seconds, 0);
    EXPECT_GE(figures.peak_memory_bytes, figures.memory_bytes);
    EXPECT_EQ(figures.memory_bytes, run.memory().used());
    EXPECT_EQ(figures.allocations > 0, GetParam().storage == storage::storage_mode::hash || nodes > 1);

    ASSERT_EQ(reports.size(), iterations);
    for (std::size_t i = 0; i < reports.size(); ++i) {
      EXPECT_EQ(reports[i].iteration, i + 1);
      EXPECT_EQ(reports[i].stratum, 1U);
      if (i > 0) EXPECT_GE(reports[i].tuples, reports[i - 1].tuples);
    }
    if (!reports.empty()) EXPECT_EQ(reports.back().tuples, expected.size());
  }
}

TEST_P(fixpoint, loading_drops_repeated_rows_and_may_be_done_in_pieces) {
  const closure_plan closure;
  plan_run run(closure.plan, GetParam());
  run.load(closure.edge, 2, std::vector<tuple>{{1, 2}, {1, 2}, {2, 3}});
  run.load(closure.edge, 2, std::vector<tuple>{});
  run.load(closure.edge, 2, std::vector<tuple>{{2, 3}, {3, 4}});
  EXPECT_EQ(run->rows(closure.edge), 3U);
  run->evaluate();
  EXPECT_EQ(run.rows_of(closure.reach), (tuples{{1, 2}, {1, 3}, {1, 4}, {2, 3}, {2, 4}, {3, 4}}));
}

TEST_P(fixpoint, facts_of_the_text_negation_and_empty_tuples) {
  // only(x) :- a(x), !b(x), on().  seen() :- only(_).
  plan::program plan;
  plan.relations = {relation_of("a", 1), relation_of("b", 1), relation_of("on", 0), relation_of("only", 1),
                    relation_of("seen", 0)};
  const relation_id a(0);
  const relation_id b(1);
  const relation_id on(2);
  const relation_id only(3);
  const relation_id seen(4);
  plan::fact_block a_facts{a, {}, 0};
  plan::fact_block b_facts{b, {}, 0};
  for (word value = 0; value < 2000; ++value) {
    a_facts.values.push_back(value);
    ++a_facts.rows;
    if (value % 3 != 0) continue;
    b_facts.values.push_back(value);
    ++b_facts.rows;
  }
  plan.facts = {a_facts, b_facts, {on, {}, 1}};
  plan::stratum first;
  first.relations = {only};
  first.once.versions.push_back(
      version_of(0, only, 1,
                 {plan::scan{a, row_part::all, {{0, slot_id(0)}}}, plan::exists{on, row_part::all, false, {}, {}},
                  plan::exists{b, row_part::all, true, {}, {slot(0)}}, plan::insert{only, {slot(0)}}},
                 "only(x) :- a(x), !b(x), on()."));
  plan::stratum second;
  second.relations = {seen};
  second.once.versions.push_back(version_of(
      1, seen, 0, {plan::exists{only, row_part::all, false, {}, {}}, plan::insert{seen, {}}}, "seen() :- only(_)."));
  plan.strata = {stratum_of_inputs({a, b, on}), first, second};
  ASSERT_EQ(plan::validate(plan), std::vector<std::string>());
  plan_run run(plan, GetParam());
  run->evaluate();
  tuples expected;
  for (word value = 0; value < 2000; ++value) {
    if (value % 3 != 0) expected.insert({value});
  }
  EXPECT_EQ(run.rows_of(only), expected);
  EXPECT_EQ(run.rows_of(seen), tuples{{}});
  EXPECT_EQ(run->rows(a), 2000U);
}

/// ok() :- fact(x), fact(y), fact(z), step(x,y,z).  (twice)  after(x) :- ok(), fact(x), x < 2.
class rules_of_the_empty_tuple {
 public:
  static constexpr relation_id fact{0};
  static constexpr relation_id ok{1};
  static constexpr relation_id after{2};
  plan::program plan;

  /// @param step an operation of the rules on slots 0, 1 and 2 before the insertion; writes slot 3 at most
  explicit rules_of_the_empty_tuple(const plan::operation& step) {
    plan.relations = {relation_of("fact", 1), relation_of("ok", 0), relation_of("after", 1)};
    const auto scan_into = [](std::uint32_t number) { return plan::scan{fact, row_part::all, {{0, slot_id(number)}}}; };
    plan::stratum first;
    first.relations = {ok};
    for (const std::uint32_t rule : {0U, 1U}) {
      first.once.versions.push_back(version_of(rule, ok, 4,
                                               {scan_into(0), scan_into(1), scan_into(2), step, plan::insert{ok, {}}},
                                               "ok() :- fact(x), fact(y), fact(z), step(x,y,z)."));
    }
    plan::stratum second;
    second.relations = {after};
    second.once.versions.push_back(
        version_of(2, after, 1,
                   {plan::exists{ok, row_part::all, false, {}, {}}, scan_into(0),
                    plan::filter{comparison_op::less_number, slot(0), constant(2)}, plan::insert{after, {slot(0)}}},
                   "after(x) :- ok(), fact(x), x < 2."));
    plan.strata = {stratum_of_inputs({fact}), first, second};
  }
  static std::vector<tuple> facts(word count) {
    std::vector<tuple> made;
    for (word value = 0; value < count; ++value) made.push_back({value});
    return made;
  }
};

TEST_P(fixpoint, rules_of_the_empty_tuple_end_when_it_is_found) {
  const rules_of_the_empty_tuple rules(plan::filter{comparison_op::less_number, slot(1), slot(2)});
  ASSERT_EQ(plan::validate(rules.plan), std::vector<std::string>());
  for (const word count : {0U, 1U, 2U, 33U, 300U}) {
    plan_run run(rules.plan, GetParam());
    run.load(rules.fact, 1, rules.facts(count));
    run->evaluate();
    EXPECT_EQ(run.rows_of(rules.ok), count < 2 ? tuples{} : tuples{{}});
    EXPECT_EQ(run.rows_of(rules.after), count < 2 ? tuples{} : (tuples{{0}, {1}}));
    std::uint64_t candidates = 0;
    std::uint64_t fresh = 0;
    for (const version_statistics& version : run->figures().strata[1].versions) {
      candidates += version.candidates;
      fresh += version.tuples;
    }
    EXPECT_EQ(candidates == 0, count < 2);
    EXPECT_LE(candidates, 2 * GetParam().threads * storage::tile_rows) << "a tile a worker and version, of 27 million";
    EXPECT_EQ(fresh, count < 2 ? 0U : 1U);
  }
}

TEST_P(fixpoint, a_rule_is_not_run_for_an_empty_tuple_that_is_there) {
  const rules_of_the_empty_tuple rules(plan::filter{comparison_op::less_number, slot(1), slot(2)});
  plan_run run(rules.plan, GetParam());
  run.load(rules.fact, 1, rules.facts(300));
  run.load(rules.ok, 0, std::vector<tuple>{{}});
  run->evaluate();
  EXPECT_EQ(run.rows_of(rules.ok), tuples{{}});
  EXPECT_EQ(run.rows_of(rules.after), (tuples{{0}, {1}}));
  for (const version_statistics& version : run->figures().strata[1].versions) {
    EXPECT_EQ(version.runs, 0U);
    EXPECT_EQ(version.candidates, 0U);
  }
}

TEST_P(fixpoint, rules_of_the_empty_tuple_that_count_take_all_candidates) {
  const rules_of_the_empty_tuple rules(plan::compute{scalar_op::next_counter, slot_id(3), {}});
  ASSERT_EQ(plan::validate(rules.plan), std::vector<std::string>());
  std::atomic<wide_word> counter = 0;
  options chosen;
  chosen.counter = &counter;
  plan_run run(rules.plan, GetParam(), 0, chosen);
  run.load(rules.fact, 1, rules.facts(40));
  run->evaluate();
  EXPECT_EQ(run.rows_of(rules.ok), tuples{{}});
  EXPECT_EQ(counter, 2U * 40 * 40 * 40);
}

TEST_P(fixpoint, relations_advance_phase_by_phase_inside_an_iteration) {
  // step(x,z) :- reach(x,z), in a separate phase; reach(x,y) :- step(x,z), edge(z,y) reads the delta in the same
  // iteration.
  closure_plan closure;
  plan::program& plan = closure.plan;
  plan.relations.push_back(relation_of("step", 2));
  const relation_id step(2);
  plan::stratum& stratum = plan.strata[1];
  stratum.relations.push_back(step);
  plan::phase first;
  first.versions.push_back(version_of(2, step, 2,
                                      {plan::scan{closure.reach, row_part::delta, {{0, slot_id(0)}, {1, slot_id(1)}}},
                                       plan::insert{step, {slot(0), slot(1)}}},
                                      "step(x,z) :- reach(x,z)."));
  first.advance = {step};
  std::get<plan::scan>(stratum.loop[0].versions[0].operations[0]).relation = step;
  stratum.loop.insert(stratum.loop.begin(), first);
  plan_run run(plan, GetParam());
  constexpr word nodes = 60;
  run.load(closure.edge, 2, path_of(nodes));
  run->evaluate();
  EXPECT_EQ(run->rows(closure.reach), nodes * (nodes - 1) / 2);
  EXPECT_EQ(run.rows_of(step), run.rows_of(closure.reach));
  EXPECT_EQ(run->figures().strata[1].iterations, nodes) << "one more, in which the added relation's delta is used up";
}

TEST_P(fixpoint, a_size_limit_ends_the_stratum) {
  closure_plan closure;
  closure.plan.relations[closure.reach.value].size_limit = 150;
  plan_run run(closure.plan, GetParam());
  run.load(closure.edge, 2, path_of(100));
  run->evaluate();
  EXPECT_EQ(run->figures().strata[1].iterations, 1U);
  EXPECT_EQ(run->rows(closure.reach), 99U + 98U) << "looked at once an iteration";
}

TEST_P(fixpoint, an_arithmetic_fault_names_its_rule) {
  plan::program plan;
  plan.relations = {relation_of("a", 1), relation_of("b", 1)};
  plan::stratum stratum;
  stratum.relations = {relation_id(1)};
  stratum.once.versions.push_back(
      version_of(0, relation_id(1), 2,
                 {plan::scan{relation_id(0), row_part::all, {{0, slot_id(0)}}},
                  plan::compute{scalar_op::divide_number, slot_id(1), {constant(100), slot(0)}},
                  plan::insert{relation_id(1), {slot(1)}}},
                 "b(100/x) :- a(x)."));
  plan.strata = {stratum_of_inputs({relation_id(0)}), stratum};
  std::vector<tuple> rows;
  for (word value = 1; value < 3000; ++value) rows.push_back({value});
  {
    plan_run run(plan, GetParam());
    run.load(relation_id(0), 1, rows);
    run->evaluate();
    EXPECT_EQ(run->rows(relation_id(1)), 20U);  // 100/1 ... 100/100, 0
  }
  rows.push_back({0});
  plan_run run(plan, GetParam());
  run.load(relation_id(0), 1, rows);
  try {
    run->evaluate();
    FAIL() << "a division by zero has a result";
  } catch (const evaluation_fault& fault) {
    EXPECT_STREQ(fault.what(),
                 "Floating-point arithmetic exception signal in rule:\nb(100/x) :- a(x).\nin file hand.dl [1:1-1:9]");
  }
}

TEST_P(fixpoint, a_memory_limit_gives_the_result_or_a_message_at_any_size) {
  const closure_plan closure;
  constexpr word nodes = 200;
  int succeeded = 0;
  int failed = 0;
  int failed_in_rule = 0;
  // Limits up to the memory that the run takes without a limit, and larger limits.
  for (std::uint64_t limit = 100; limit < 8u << 20; limit += limit / (oracle::is_sanitized ? 2 : 6)) {
    SCOPED_TRACE(limit);
    try {
      plan_run run(closure.plan, GetParam(), limit);
      run.load(closure.edge, 2, path_of(nodes));
      run->evaluate();
      EXPECT_EQ(run->rows(closure.reach), nodes * (nodes - 1) / 2);
      EXPECT_LE(run->figures().peak_memory_bytes, limit);
      ++succeeded;
    } catch (const memory_fault& fault) {
      const std::string sizes =
          " (N tuples, N bytes): N more bytes were needed with N bytes in use, and the limit is " +
          std::to_string(limit) + " bytes (raise it with memory_limit, or name a folder with spill)";
      const std::string first_rule = "\nin rule:\nreach(x,y) :- edge(x,y).\nin file hand.dl [1:1-1:9]";
      const std::string second_rule = "\nin rule:\nreach(x,y) :- reach(x,z), edge(z,y).\nin file hand.dl [1:1-1:9]";
      const std::set<std::string> messages = {
          "Out of memory while loading relation edge" + sizes,
          "Out of memory while indexing relation edge" + sizes,
          "Out of memory while indexing relation reach" + sizes,
          "Out of memory while deduplicating relation reach" + sizes,
          "Out of memory while deduplicating relation reach" + sizes + first_rule,
          "Out of memory while deduplicating relation reach" + sizes + second_rule,
          "Out of memory while extending relation reach" + sizes + first_rule,
          "Out of memory while extending relation reach" + sizes + second_rule,
      };
      const std::string message = oracle::without_sizes(fault.what());
      EXPECT_TRUE(messages.contains(message)) << message;
      ++failed;
      if (message.ends_with(first_rule) || message.ends_with(second_rule)) ++failed_in_rule;
    } catch (const backend::memory_exceeded& fault) {
      EXPECT_LT(limit, 100000U) << "before any relation had rows";
      EXPECT_EQ(fault.limit, limit);
    }
  }
  EXPECT_GT(succeeded, 0);
  EXPECT_GT(failed, 0);
  // In `hisa` mode most memory is needed between rules.
  if (GetParam().storage == storage::storage_mode::hash) EXPECT_GT(failed_in_rule, 0);
}

TEST_P(fixpoint, a_stop_ends_the_run) {
  const closure_plan closure;
  std::atomic<bool> stop = true;
  options chosen;
  chosen.stop = &stop;
  {
    plan_run run(closure.plan, GetParam(), 0, chosen);
    run.load(closure.edge, 2, path_of(50));
    EXPECT_THROW(run->evaluate(), kernels::interrupted);
  }
  // After some iterations.
  stop = false;
  std::uint64_t iterations = 0;
  chosen.on_progress = [&](const progress& now) {
    iterations = now.iteration;
    if (now.iteration == 5) stop = true;
  };
  plan_run run(closure.plan, GetParam(), 0, chosen);
  run.load(closure.edge, 2, path_of(50));
  EXPECT_THROW(run->evaluate(), kernels::interrupted);
  EXPECT_EQ(iterations, 5U);
}

TEST_P(fixpoint, a_stop_from_another_thread_interrupts_a_long_rule) {
  // A Cartesian product of 4e12 candidates would take hours.
  plan::program plan;
  plan.relations = {relation_of("a", 1), relation_of("b", 1)};
  plan::stratum stratum;
  stratum.relations = {relation_id(1)};
  stratum.once.versions.push_back(version_of(
      0, relation_id(1), 3,
      {plan::scan{relation_id(0), row_part::all, {{0, slot_id(0)}}},
       plan::scan{relation_id(0), row_part::all, {{0, slot_id(1)}}},
       plan::scan{relation_id(0), row_part::all, {{0, slot_id(2)}}},
       plan::compute{scalar_op::bit_and, slot_id(2), {slot(2), constant(1)}}, plan::insert{relation_id(1), {slot(2)}}},
      "b(z) :- a(x), a(y), a(z)."));
  plan.strata = {stratum_of_inputs({relation_id(0)}), stratum};
  std::vector<tuple> rows;
  for (word value = 0; value < 16000; ++value) rows.push_back({value});
  std::atomic<bool> stop = false;
  options chosen;
  chosen.stop = &stop;
  plan_run run(plan, GetParam(), 0, chosen);
  run.load(relation_id(0), 1, rows);
  std::thread other([&stop] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop = true;
  });
  EXPECT_THROW(run->evaluate(), kernels::interrupted);
  other.join();
}

TEST(executor, frees_what_later_strata_do_not_read) {
  const closure_plan closure;
  plan_run run(closure.plan, {});
  run.load(closure.edge, 2, path_of(300));
  run->evaluate();
  // Only the columns are left, exactly fitting, and the registers of tiles, which the next rule would need.
  const std::uint64_t columns = 8 * (299U + 300 * 299 / 2);
  const std::uint64_t most_registers = 6;  // two atoms, three variables
  EXPECT_GE(run.memory().used(), columns);
  EXPECT_LE(run.memory().used(), columns + most_registers * storage::tile_rows * sizeof(word));
}

TEST(executor, a_program_without_rules_keeps_its_facts) {
  plan::program plan;
  plan.relations = {relation_of("a", 3), relation_of("b", 0)};
  plan.facts = {{relation_id(0), {1, 2, 3, 1, 2, 3, 4, 5, 6}, 3}};
  plan.strata = {stratum_of_inputs({relation_id(0), relation_id(1)})};
  for (const run_mode& mode : all_run_modes()) {
    plan_run run(plan, mode);
    run->evaluate();
    EXPECT_EQ(run.rows_of(relation_id(0)), (tuples{{1, 2, 3}, {4, 5, 6}}));
    EXPECT_EQ(run->rows(relation_id(1)), 0U);
    EXPECT_EQ(run->figures().strata.at(0).iterations, 0U);
  }
}

}  // namespace
}  // namespace gpulog::exec
