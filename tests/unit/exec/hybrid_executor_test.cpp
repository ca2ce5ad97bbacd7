// Two executors that share a plan have the results of a single executor, for every division of the strata.

#include "exec/hybrid/hybrid_executor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "analysed_text.hpp"
#include "exec/hybrid/device_strata.hpp"
#include "oracle/loops_only.hpp"
#include "oracle/random_program.hpp"
#include "oracle/random_runs.hpp"
#include "oracle/restricted_plan.hpp"
#include "oracle/without_sizes.hpp"
#include "plan_run.hpp"

namespace gpulog::exec {
namespace {

/// The relations that pass between the executors, with counts.
struct crossings {
  std::map<std::uint32_t, int> adopted;
  std::map<std::uint32_t, int> released;
};

/// An executor that records the relations it receives.
class watched_executor final : public stratum_executor {
 public:
  watched_executor(std::unique_ptr<stratum_executor> inner, crossings& seen) : inner_(std::move(inner)), seen_(&seen) {}
  void load(relation_id relation, const std::vector<const word*>& columns, std::uint64_t rows) override {
    inner_->load(relation, columns, rows);
  }
  void evaluate() override { inner_->evaluate(); }
  [[nodiscard]] std::vector<const word*> columns(relation_id relation) override { return inner_->columns(relation); }
  [[nodiscard]] std::uint64_t rows(relation_id relation) const override { return inner_->rows(relation); }
  [[nodiscard]] const statistics& figures() override { return inner_->figures(); }
  [[nodiscard]] std::optional<stopped_recursion> run_until(std::size_t number, const stratum_stops& stops) override {
    return inner_->run_until(number, stops);
  }
  [[nodiscard]] std::uint64_t old_rows(relation_id relation) const override { return inner_->old_rows(relation); }
  void adopt_running(relation_id relation, const std::vector<const word*>& columns, std::uint64_t rows,
                     std::uint64_t old_rows) override {
    EXPECT_EQ(inner_->rows(relation), 0U);
    ++seen_->adopted[relation.value];
    inner_->adopt_running(relation, columns, rows, old_rows);
  }
  void resume_stratum(std::size_t number, const stopped_recursion& from, const stratum_stops& stops) override {
    inner_->resume_stratum(number, from, stops);
  }
  void append(relation_id relation, const std::vector<const word*>& columns, std::uint64_t rows) override {
    inner_->append(relation, columns, rows);
  }
  std::vector<std::uint64_t> erase(relation_id relation, const std::vector<const word*>& columns,
                                   std::uint64_t rows) override {
    return inner_->erase(relation, columns, rows);
  }
  [[nodiscard]] std::vector<const word*> appended_columns(relation_id relation, std::uint64_t tuples) override {
    return inner_->appended_columns(relation, tuples);
  }
  void continue_stratum(std::size_t number, const stratum_stops& stops) override {
    inner_->continue_stratum(number, stops);
  }
  void skip_stratum(std::size_t number) override { inner_->skip_stratum(number); }
  void adopt(relation_id relation, const std::vector<const word*>& columns, std::uint64_t rows, bool lasts) override {
    EXPECT_EQ(inner_->rows(relation), 0U);
    ++seen_->adopted[relation.value];
    inner_->adopt(relation, columns, rows, lasts);
  }
  void release(relation_id relation) override {
    ++seen_->released[relation.value];
    inner_->release(relation);
  }
  void forget_columns(relation_id relation) override { inner_->forget_columns(relation); }
  [[nodiscard]] std::vector<storage::sampled_rows> sample(const std::vector<relation_id>& relations,
                                                          std::uint64_t wanted) override {
    return inner_->sample(relations, wanted);
  }
  void take_over_plan(std::size_t number) override { inner_->take_over_plan(number); }

 private:
  std::unique_ptr<stratum_executor> inner_;
  crossings* seen_;
};

/// Two CPU executors, of which one plays the device.
class hybrid_run {
 public:
  hybrid_run(const plan::program& given, const placement_rules& rules, const run_mode& mode,
             std::uint64_t device_memory_limit = 0)
      : plan_(rules.move_at ? oracle::loops_only(given) : given), symbols_(plan_.symbols) {
    const plan::program& plan = plan_;
    device_memory_.set_limit(device_memory_limit);
    options chosen;
    chosen.threads = mode.threads;
    chosen.storage = mode.storage;
    chosen.counter = &counter_;
    chosen.counts_steps = true;
    if (mode.small_cut_offs) {
      chosen.cut.parallel_candidates = 0;
      chosen.cut.range_elements = 1;
      chosen.cut.candidate_rows = 200;
    }
    chosen.may_run = strata_of_device(plan, rules);
    auto device =
        std::make_unique<watched_executor>(make_cpu_executor(plan, symbols_, device_memory_, chosen), to_device_);
    chosen.may_run = strata_of_host(plan, rules);
    auto host = std::make_unique<watched_executor>(make_cpu_executor(plan, symbols_, host_memory_, chosen), to_host_);
    executor_ = make_hybrid_executor(plan, std::move(device), std::move(host), rules);
  }

  executor* operator->() { return executor_.get(); }
  [[nodiscard]] const crossings& to_device() const { return to_device_; }
  [[nodiscard]] const crossings& to_host() const { return to_host_; }
  [[nodiscard]] const backend::memory_resource& device_memory() const { return device_memory_; }

  void load(const std::string& name, const std::vector<tuple>& rows) {
    const relation_id relation = find(name);
    std::vector<std::vector<word>> columns(plan_.relations[relation.value].kinds.size());
    for (const tuple& row : rows) {
      for (std::size_t c = 0; c < columns.size(); ++c) columns[c].push_back(static_cast<word>(row[c]));
    }
    std::vector<const word*> pointers;
    for (const auto& column : columns) pointers.push_back(column.data());
    executor_->load(relation, pointers, rows.size());
  }

  [[nodiscard]] relation_id find(const std::string& name) const {
    for (std::uint32_t r = 0; r < plan_.relations.size(); ++r) {
      if (plan_.relations[r].name == name) return relation_id(r);
    }
    throw std::out_of_range(name);
  }

  /// Rows with their symbols as texts: two runs may number texts made at run time in different orders.
  [[nodiscard]] std::multiset<std::vector<std::string>> texts_of(relation_id relation) {
    return texts_of(*executor_, relation, plan_, symbols_);
  }
  static std::multiset<std::vector<std::string>> texts_of(executor& source, relation_id relation,
                                                          const plan::program& plan,
                                                          const storage::symbol_table& symbols) {
    std::multiset<std::vector<std::string>> result;
    const std::vector<const word*> columns = source.columns(relation);
    const std::uint64_t rows = source.rows(relation);
    for (std::uint64_t row = 0; row < rows; ++row) {
      std::vector<std::string> values;
      for (std::size_t c = 0; c < columns.size(); ++c) {
        const bool is_symbol = plan.relations[relation.value].kinds[c] == value_kind::symbol;
        values.push_back(is_symbol ? std::string(symbols.text(columns[c][row])) : std::to_string(columns[c][row]));
      }
      result.insert(std::move(values));
    }
    return result;
  }

 private:
  plan::program plan_;
  backend::host_memory device_memory_;
  backend::host_memory host_memory_;
  storage::symbol_table symbols_;
  std::atomic<wide_word> counter_ = 0;
  crossings to_device_;
  crossings to_host_;
  std::unique_ptr<executor> executor_;
};

placement_rules rules_by(const plan::program& plan, const std::function<bool(std::size_t)>& on_device,
                         std::optional<std::uint64_t> move_at = {}) {
  placement_rules rules;
  rules.move_at = move_at;
  for (std::size_t s = 0; s < plan.strata.size(); ++s) {
    rules.why_not_on_device.emplace_back(on_device(s) ? "" : "the test says so");
  }
  return rules;
}

/// The stratum of a relation.
std::size_t stratum_of(const plan::program& plan, relation_id relation) {
  for (std::size_t s = 0; s < plan.strata.size(); ++s) {
    for (const relation_id member : plan.strata[s].relations) {
      if (member == relation) return s;
    }
  }
  return plan.strata.size();
}

const char* const layers = R"(
.decl e(x:number, y:number)
.decl reach(x:number, y:number)
.decl far(x:number, y:number)
.decl near(x:number)
.decl last(x:number)
reach(x,y) :- e(x,y).
reach(x,z) :- reach(x,y), e(y,z).
far(x,y) :- reach(x,y), !e(x,y).
near(x) :- e(x,_), !far(x,x).
last(x) :- near(x), reach(x,_), far(_,x).
)";

std::vector<tuple> ring(word nodes) {
  std::vector<tuple> edges;
  for (word node = 0; node < nodes; ++node) edges.push_back({node, (node + 1) % nodes});
  return edges;
}

TEST(hybrid_executor, relations_cross_over_once_and_are_freed) {
  const analysed_text source(layers);
  const plan::program plan = plan::make_plan(source.program);
  const auto number_of = [&](const char* name) {
    for (std::uint32_t r = 0; r < plan.relations.size(); ++r) {
      if (plan.relations[r].name == name) return relation_id(r);
    }
    return relation_id(0);
  };
  const std::size_t far = stratum_of(plan, number_of("far"));
  const placement_rules rules = rules_by(plan, [&](std::size_t s) { return s != far; });
  hybrid_run run(plan, rules, {});
  run.load("e", ring(40));
  run->evaluate();
  EXPECT_EQ(run->rows(run.find("reach")), 1600U);
  EXPECT_EQ(run->rows(run.find("far")), 1560U);
  EXPECT_EQ(run->rows(run.find("near")), 0U);
  EXPECT_EQ(run->rows(run.find("e")), 40U);
  EXPECT_EQ(run.to_host().adopted,
            (std::map<std::uint32_t, int>{{run.find("e").value, 1}, {run.find("reach").value, 1}}));
  EXPECT_EQ(run.to_device().adopted, (std::map<std::uint32_t, int>{{run.find("far").value, 1}}));
  // In the end, the device frees the relations that both sides hold.
  EXPECT_EQ(run.to_device().released.size(), 3U);
  const statistics& figures = run->figures();
  ASSERT_EQ(figures.strata.size(), plan.strata.size());
  for (std::size_t s = 0; s < plan.strata.size(); ++s) {
    EXPECT_EQ(figures.strata[s].backend, s == far ? "cpu" : "gpu");
    EXPECT_EQ(figures.strata[s].reason, s == far ? "the test says so" : "");
    ASSERT_EQ(figures.strata[s].relations.size(), plan.strata[s].relations.size());
    for (const relation_statistics& relation : figures.strata[s].relations) {
      EXPECT_EQ(relation.rows, run->rows(relation.relation)) << plan.relations[relation.relation.value].name;
    }
  }
}

/// A device that is ready when the test says so.
class late_device final : public device_source {
 public:
  using question = std::function<bool()>;
  late_device(std::unique_ptr<stratum_executor> device, question is_ready)
      : device_(std::move(device)), is_ready_(std::move(is_ready)) {}
  [[nodiscard]] double ready_in() const override {
    if (device_ == nullptr) return HUGE_VAL;
    return is_ready_() ? 0 : 1e3;
  }
  [[nodiscard]] std::unique_ptr<stratum_executor> make() override { return std::move(device_); }

 private:
  std::unique_ptr<stratum_executor> device_;
  question is_ready_;
};

placement_rules by_costs(const plan::program& plan) {
  placement_rules rules = rules_by(plan, [](std::size_t) { return true; });
  rules.costs.emplace(1);
  return rules;
}

const statistics& run_with(hybrid_run& run, const std::string& relation, const std::vector<tuple>& rows) {
  run.load(relation, rows);
  run->evaluate();
  return run->figures();
}

TEST(hybrid_executor, strata_run_where_they_are_expected_to_be_faster) {
  const analysed_text source(
      ".decl e(x:number, y:number)\n.decl c(x:number, y:number)\n.decl d(x:number)\n"
      "c(y,x) :- e(x,y).\nd(x) :- c(x,_), e(x,_).\n");
  const plan::program plan = plan::make_plan(source.program);
  placement_rules rules = by_costs(plan);
  for (const word nodes : {word{0}, word{5}, word{200000}}) {
    hybrid_run run(plan, rules, {});
    const statistics& figures = run_with(run, "e", ring(nodes));
    EXPECT_EQ(run->rows(run.find("d")), nodes);
    for (const char* const name : {"c", "d"}) {
      const stratum_statistics& stratum = figures.strata[stratum_of(plan, run.find(name))];
      EXPECT_EQ(stratum.backend, nodes < 100 ? "cpu" : "gpu") << nodes;
      EXPECT_TRUE(stratum.reason.starts_with("expected: ")) << stratum.reason;
    }
  }
  // The user wants the stratum on the device.
  rules.wanted_on_device.assign(plan.strata.size(), false);
  rules.wanted_on_device[stratum_of(plan, hybrid_run(plan, rules, {}).find("d"))] = true;
  hybrid_run run(plan, rules, {});
  const statistics& figures = run_with(run, "e", ring(5));
  EXPECT_EQ(figures.strata[stratum_of(plan, run.find("c"))].backend, "cpu");
  EXPECT_EQ(figures.strata[stratum_of(plan, run.find("d"))].backend, "gpu");
}

const char* const walks = R"(
.decl e(x:number, y:number)
.decl p(i:number, x:number)
.decl q(i:number)
e(x, x+1) :- x = range(0, 60).
p(i, 0) :- q(i).
p(i, y) :- p(i, x), e(x, y).
)";

std::vector<tuple> numbers(word n) {
  std::vector<tuple> rows;
  for (word i = 0; i < n; ++i) rows.push_back({i});
  return rows;
}

/// Runs `walks` with n walks on a device that is ready after `ready_after` iterations.
/// @return the figures of the stratum of p
stratum_statistics walk(word n, std::uint64_t ready_after, bool has_device = true) {
  const analysed_text source(walks);
  const plan::program plan = oracle::loops_only(plan::make_plan(source.program));
  backend::host_memory memory;
  backend::host_memory device_memory;
  storage::symbol_table symbols(plan.symbols);
  options chosen;
  std::atomic<bool> is_ready = false;
  chosen.on_progress = [&](const progress& now) { is_ready = is_ready || now.iteration >= ready_after; };
  auto device = has_device ? make_cpu_executor(plan, symbols, device_memory, chosen) : nullptr;
  const auto mixed =
      make_hybrid_executor(plan, std::make_unique<late_device>(std::move(device), [&] { return is_ready.load(); }),
                           make_cpu_executor(plan, symbols, memory, chosen), by_costs(plan));
  std::vector<word> column(n);
  for (word i = 0; i < n; ++i) column[i] = i;
  for (std::uint32_t r = 0; r < plan.relations.size(); ++r) {
    if (plan.relations[r].name == "q") mixed->load(relation_id(r), {column.data()}, n);
  }
  mixed->evaluate();
  for (std::uint32_t r = 0; r < plan.relations.size(); ++r) {
    if (plan.relations[r].name != "p") continue;
    EXPECT_EQ(mixed->rows(relation_id(r)), std::uint64_t{n} * 61);
    return mixed->figures().strata[stratum_of(plan, relation_id(r))];
  }
  return {};
}

/// Repeats a run until the outcome is the wanted outcome, and returns the last outcome. Other processes may delay any
/// thread of a run, so one run of many has to behave as on an idle machine.
template <class Run, class Wanted>
stratum_statistics one_of_many(const Run& run, const Wanted& is_wanted) {
  constexpr int most_runs = 50;
  stratum_statistics outcome;
  for (int i = 0; i < most_runs && !is_wanted(outcome); ++i) outcome = run();
  return outcome;
}

TEST(hybrid_executor, recursions_move_when_the_device_is_ready_and_their_iterations_are_large) {
  const stratum_statistics large =
      one_of_many([] { return walk(20000, 5); },
                  [](const auto& figures) { return figures.iterations_before_move.value_or(30) < 30; });
  EXPECT_EQ(large.backend, "gpu");
  ASSERT_TRUE(large.iterations_before_move.has_value());
  EXPECT_GE(*large.iterations_before_move, 5U);
  EXPECT_LT(*large.iterations_before_move, 30U);
  EXPECT_EQ(large.iterations, 61U);
  EXPECT_TRUE(large.reason.find(" iterations on cpu, then ") != std::string::npos) << large.reason;
  std::uint64_t tuples = 0;
  for (const version_statistics& version : large.versions) tuples += version.tuples;
  EXPECT_EQ(tuples, 20000U * 61);

  EXPECT_EQ(walk(20000, 1000).backend, "cpu");
  const stratum_statistics alone = walk(20000, 0, false);
  EXPECT_EQ(alone.backend, "cpu");
  EXPECT_EQ(alone.reason, "there is no gpu device");
  // Delayed iterations look large, and sanitizers delay every iteration. recursion_watch.small_iterations_stay tests
  // the same rule with given times.
  if (oracle::is_sanitized) return;
  const stratum_statistics small = one_of_many(
      [] {
        const stratum_statistics figures = walk(1, 5);
        EXPECT_EQ(figures.iterations_before_move.has_value(), figures.backend == "gpu");
        return figures;
      },
      [](const auto& figures) { return figures.backend == "cpu"; });
  EXPECT_EQ(small.backend, "cpu");
}

TEST(hybrid_executor, strata_begin_anew_when_the_device_is_ready) {
  // The inputs are facts: an earlier stratum might also begin anew, and this stratum would then begin on the device.
  std::string facts;
  for (int x = 0; x < 2000; ++x) facts += "n(" + std::to_string(x) + ").\n";
  const analysed_text source(
      ".decl n(x:number)\n.decl m(x:number, y:number)\n.decl r(x:number, y:number)\n"
      "m(x,y) :- n(x), n(y), x * y % 1000 = 7.\nr(x,y) :- m(x,y), !m(y,y).\n" +
      facts);
  const plan::program plan = plan::make_plan(source.program);
  std::vector<std::uint64_t> sizes;
  const auto run = [&](bool becomes_ready) {
    backend::host_memory memory;
    backend::host_memory device_memory;
    storage::symbol_table symbols(plan.symbols);
    // Only the thread that waits for the device asks from another thread.
    const auto is_ready = [becomes_ready, asking = std::this_thread::get_id()] {
      return becomes_ready && std::this_thread::get_id() != asking;
    };
    const auto mixed = make_hybrid_executor(
        plan, std::make_unique<late_device>(make_cpu_executor(plan, symbols, device_memory, {}), is_ready),
        make_cpu_executor(plan, symbols, memory, {}), by_costs(plan));
    mixed->evaluate();
    std::vector<std::uint64_t> own_sizes;
    stratum_statistics result;
    for (std::uint32_t r = 0; r < plan.relations.size(); ++r) {
      own_sizes.push_back(mixed->rows(relation_id(r)));
      if (plan.relations[r].name == "m") result = mixed->figures().strata[stratum_of(plan, relation_id(r))];
    }
    if (sizes.empty()) sizes = own_sizes;
    EXPECT_EQ(own_sizes, sizes);
    return result;
  };
  EXPECT_EQ(run(false).backend, "cpu");
  const auto is_begun_anew = [](const auto& figures) { return figures.reason.starts_with("begun anew here "); };
  const stratum_statistics moved = one_of_many([&] { return run(true); }, is_begun_anew);
  EXPECT_EQ(moved.backend, "gpu") << moved.reason;
  EXPECT_TRUE(is_begun_anew(moved)) << moved.reason;
}

TEST(hybrid_executor, recursions_move_at_every_iteration) {
  const analysed_text source(layers);
  const plan::program plan = plan::make_plan(source.program);
  for (const run_mode& mode : {run_mode{storage::storage_mode::hash, 1}, run_mode{storage::storage_mode::hisa, 2},
                               run_mode{storage::storage_mode::hash, 2, true}}) {
    for (std::uint64_t move_at = 0; move_at < 14; ++move_at) {
      hybrid_run run(plan,
                     rules_by(
                         plan, [](std::size_t) { return true; }, move_at),
                     mode);
      run.load("e", ring(12));
      run->evaluate();
      EXPECT_EQ(run->rows(run.find("reach")), 144U);
      EXPECT_EQ(run->rows(run.find("far")), 132U);
      const stratum_statistics& figures = run->figures().strata[stratum_of(plan, run.find("reach"))];
      const bool is_moved = move_at < 12;
      EXPECT_EQ(figures.backend, is_moved ? "gpu" : "cpu") << move_at;
      EXPECT_EQ(figures.iterations_before_move.has_value(), is_moved);
      EXPECT_EQ(figures.iterations_before_move.value_or(move_at), move_at);
      EXPECT_EQ(figures.iterations, 12U);
      std::uint64_t tuples = 0;
      for (const version_statistics& version : figures.versions) {
        tuples += version.tuples;
        if (version.counted == nullptr) continue;
        EXPECT_LE(version.counted->runs, version.runs);
        const std::uint32_t inserted = version.counted->operators.back();
        if (version.counted->runs != version.runs || inserted == kernels::step_counts::no_place) continue;
        EXPECT_EQ(version.counted->counts[inserted], version.candidates);
      }
      if (mode.storage != storage::storage_mode::hisa) EXPECT_EQ(tuples, 144U);
      // The counts of one side are incomplete.
      EXPECT_EQ(figures.versions.back().counted == nullptr, move_at > 0 && is_moved) << move_at;
    }
  }
}

TEST(hybrid_executor, recursions_stay_where_the_device_has_no_room_for_them) {
  const analysed_text source(layers);
  const plan::program plan = plan::make_plan(source.program);
  const auto recursive = [&](std::size_t s) { return plan.strata[s].recursive; };
  hybrid_run run(plan, rules_by(plan, recursive, 200), {}, 1 << 18);
  run.load("e", ring(400));
  run->evaluate();
  EXPECT_EQ(run->rows(run.find("reach")), 160000U);
  EXPECT_EQ(run->rows(run.find("far")), 159600U);
  const stratum_statistics& figures = run->figures().strata[stratum_of(plan, run.find("reach"))];
  EXPECT_EQ(figures.backend, "cpu");
  EXPECT_EQ(figures.iterations, 400U);
  EXPECT_LE(run.device_memory().peak(), 1U << 18);
}

TEST(hybrid_executor, memory_limits_hold_on_both_sides) {
  const analysed_text source(layers);
  const plan::program plan = plan::make_plan(source.program);
  const placement_rules rules = rules_by(plan, [](std::size_t s) { return s % 2 == 0; });
  hybrid_run run(plan, rules, {}, 1 << 20);
  try {
    run.load("e", ring(1000));
    run->evaluate();
    FAIL() << "a million tuples fit into a million bytes";
  } catch (const memory_fault& fault) {
    EXPECT_EQ(
        oracle::without_sizes(fault.what()),
        "Out of memory while copying relation reach (N tuples, N bytes): N more bytes were needed with N bytes in use, "
        "and the limit is 1048576 bytes (raise it with memory_limit, or name a folder with spill)");
  }
  EXPECT_LE(run.device_memory().peak(), 1U << 20);
}

TEST(hybrid_executor, faults_name_the_rule) {
  const analysed_text source(
      ".decl a(x:number)\n.decl b(x:number)\n.decl c(x:number)\na(0).\nb(x+1) :- a(x).\nc(1/x) :- a(x), b(_).\n");
  const plan::program plan = plan::make_plan(source.program);
  for (const std::size_t parity : {0U, 1U}) {
    hybrid_run run(plan, rules_by(plan, [&](std::size_t s) { return s % 2 == parity; }), {});
    try {
      run->evaluate();
      FAIL() << "no fault";
    } catch (const evaluation_fault& fault) {
      EXPECT_STREQ(
          fault.what(),
          "Floating-point arithmetic exception signal in rule:\nc((1/x)) :- a(x), b(_).\nin file test.dl [6:1-6:22]");
    }
  }
}

TEST(hybrid_executor, random_programs) {
  const std::uint64_t count = oracle::programs_to_try(150);
  const std::vector<run_mode> modes = {
      {storage::storage_mode::hash, 1}, {storage::storage_mode::hisa, 1}, {storage::storage_mode::hash, 2, true}};
  const std::uint64_t first = oracle::first_seed(500000);
  for (std::uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    const std::string text = oracle::make_random_program(seed, {.layers = 5}).text;
    const analysed_text source(text);
    const plan::program plan = plan::make_plan(source.program);
    const run_mode& mode = modes[seed % modes.size()];

    backend::host_memory memory;
    storage::symbol_table symbols(plan.symbols);
    options chosen;
    chosen.storage = mode.storage;
    const auto alone = make_cpu_executor(plan, symbols, memory, chosen);
    bool has_result = true;
    try {
      alone->evaluate();
    } catch (const evaluation_fault&) {
      has_result = false;
    }
    for (const std::uint64_t pattern :
         {seed * 0x9E3779B97F4A7C15, std::uint64_t{0x5555555555555555}, ~std::uint64_t{0}}) {
      // Recursions move only if the device may run all strata.
      std::optional<std::uint64_t> move_at;
      if (pattern == ~std::uint64_t{0}) move_at = seed % 5;
      hybrid_run run(plan,
                     rules_by(
                         plan, [&](std::size_t s) { return (pattern >> (s % 64) & 1) != 0; }, move_at),
                     mode);
      try {
        run->evaluate();
        EXPECT_TRUE(has_result) << text;
      } catch (const evaluation_fault&) {
        EXPECT_FALSE(has_result) << text;
        continue;
      }
      for (std::uint32_t r = 0; r < plan.relations.size(); ++r) {
        EXPECT_EQ(run.texts_of(relation_id(r)), hybrid_run::texts_of(*alone, relation_id(r), plan, symbols))
            << "seed " << seed << ", " << plan.relations[r].name << "\n"
            << text;
      }
      for (const auto& [relation, times] : run.to_device().adopted) EXPECT_EQ(times, 1) << text;
      for (const auto& [relation, times] : run.to_host().adopted) EXPECT_EQ(times, 1) << text;
    }
  }
}

TEST(hybrid_executor, random_programs_with_restrictions) {
  const std::uint64_t count = oracle::programs_to_try(750);
  const std::vector<run_mode> modes = {{storage::storage_mode::hash, 1}, {storage::storage_mode::hisa, 1}};
  std::uint64_t restricted = 0;
  const std::uint64_t first = oracle::first_seed(510000);
  for (std::uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    const std::string text = oracle::make_random_program(seed, oracle::shape_of_restricted_programs(seed)).text;
    const analysed_text source(text);
    const plan::program plan = oracle::make_restricted_plan(source.program);
    if (!oracle::is_restricted(plan)) continue;
    ++restricted;
    plan::options without_magic_sets;
    without_magic_sets.modes.set("magic-sets", tuning_mode::off);
    const plan::program unrestricted = plan::make_plan(source.program, {}, without_magic_sets);
    backend::host_memory memory;
    storage::symbol_table symbols(plan.symbols);
    const auto alone = make_cpu_executor(unrestricted, symbols, memory, {});
    try {
      alone->evaluate();
    } catch (const evaluation_fault&) {
      continue;
    }
    // Strata on either side, and a change of sides in the middle of a recursion.
    for (const std::uint64_t pattern :
         {seed * 0x9E3779B97F4A7C15, std::uint64_t{0x5555555555555555}, ~std::uint64_t{0}}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", pattern " + std::to_string(pattern) + "\n" + text);
      std::optional<std::uint64_t> move_at;
      if (pattern == ~std::uint64_t{0}) move_at = seed % 3;
      hybrid_run run(plan,
                     rules_by(
                         plan, [&](std::size_t s) { return (pattern >> (s % 64) & 1) != 0; }, move_at),
                     modes[seed % modes.size()]);
      run->evaluate();
      for (std::uint32_t r = 0; r < source.program.relations.size(); ++r) {
        EXPECT_EQ(run.texts_of(relation_id(r)), hybrid_run::texts_of(*alone, relation_id(r), unrestricted, symbols))
            << source.program.relations[r].name;
      }
    }
  }
  EXPECT_GT(restricted, count / 30);
}

TEST(device_strata, reasons_name_the_rule) {
  const analysed_text source(
      ".decl a(x:number, s:symbol)\n.decl b(s:symbol)\n.decl c(x:number)\n.decl d(x:number, y:number) "
      "choice-domain x\na(1,\"x\").\nb(cat(s,\"y\")) :- a(_,s).\nc(x) :- a(x,s), s != \"z\".\n"
      "d(x,x) :- c(x).\n");
  const plan::program plan = plan::make_plan(source.program);
  const std::vector<device_stratum> strata = find_device_strata(plan, {});
  ASSERT_EQ(strata.size(), plan.strata.size());
  for (std::size_t s = 0; s < strata.size(); ++s) {
    const std::string& name = plan.relations[plan.strata[s].relations.front().value].name;
    EXPECT_EQ(strata[s].why_not, name == "d" ? "relation d has a choice-domain" : "") << name;
    EXPECT_EQ(strata[s].host_steps, name == "b" ? "a rule works on texts:\nb(cat(s,\"y\")) :- a(_,s)." : "") << name;
  }
  EXPECT_EQ(explain_device_strata(plan),
            "by the host, also with a device\n"
            "  stratum 1: some steps, as a rule works on texts: b(cat(s,\"y\")) :- a(_,s).\n"
            "  stratum 3: all of it, as relation d has a choice-domain\n");
}

TEST(device_strata, make_records_themselves) {
  const analysed_text source(
      ".type list = [head:number, tail:list]\n.decl l(x:list, n:number)\nl(nil,0).\nl([n,t],n+1) :- l(t,n), n < 5.\n"
      ".decl m(n:number)\nm(n) :- l(t,n), l([_,[n,t]],_).\n");
  const plan::program plan = plan::make_plan(source.program);
  for (const device_stratum& stratum : find_device_strata(plan, {})) {
    EXPECT_EQ(stratum.why_not, "");
    EXPECT_EQ(stratum.host_steps, "");
  }
  options published;
  published.storage = storage::storage_mode::hisa;
  std::vector<std::string> reasons;
  for (const device_stratum& stratum : find_device_strata(plan, published)) reasons.push_back(stratum.why_not);
  EXPECT_EQ(reasons,
            (std::vector<std::string>{
                "a rule makes records, which storage=\"hisa\" has not on a device:\nl([n,t],(n+1)) :- l(t,n), n < 5.",
                "a rule reads records, which storage=\"hisa\" has not on a device:\nm(n) :- l(t,n), l([_,[n,t]],_)."}));
}

TEST(device_strata, work_on_values_of_64_bits) {
  const analysed_text source(
      ".decl a(x:number, y:number)\na(1,2).\n.decl b(x:number, y:number)\nb(x,z) :- a(x,y), a(y,z), x != z, !a(z,x).\n"
      "b(x,z) :- b(x,y), b(y,z).\n.decl c(x:number)\nc(x + 1) :- a(x,_).\n.decl d(x:number)\nd(x) :- a(x,y), x < y.\n"
      ".decl e(x:number)\ne(x) :- x = sum y : a(y,_).\n.decl f(x:number)\nf(x) :- a(y,_), x = range(y,9).\n"
      ".decl g(x:float)\ng(x) :- x = sum to_float(y) : a(y,_).\n",
      word_size::bits64);
  const plan::program plan = plan::make_plan(source.program);
  const auto reasons = [&](const options& chosen) {
    std::map<std::string, std::string> found;
    const std::vector<device_stratum> strata = find_device_strata(plan, chosen);
    for (std::size_t s = 0; s < strata.size(); ++s) {
      const std::string& reason = strata[s].why_not;
      if (reason.empty()) continue;
      found[plan.relations[plan.strata[s].relations.front().value].name] = reason.substr(0, reason.find_first_of(":,"));
    }
    return found;
  };
  using known = std::map<std::string, std::string>;
  EXPECT_EQ(reasons({}), (known{{"g", "a rule adds floats of 64 bits"}}));
  options published;
  published.storage = storage::storage_mode::hisa;
  EXPECT_EQ(reasons(published), (known{{"c", "a rule computes with words of 64 bits"},
                                       {"d", "a rule compares words of 64 bits"},
                                       {"e", "a rule has an aggregate"},
                                       {"f", "a rule has a range"},
                                       {"g", "a rule adds floats of 64 bits"}}));
}

}  // namespace
}  // namespace gpulog::exec
