// Relations that are expected to be read at few keys, and are read at most: their restriction is given up while the
// recursion runs.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "device_here.hpp"
#include "gpulog/engine.hpp"

namespace gpulog {
namespace {

using pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// Few nodes of the graph, which most paths lead to, through others that nobody asks for.
struct hub {
  pairs edges;
  std::vector<std::uint32_t> asked;

  /// @param asked_share of the targets
  hub(std::uint32_t sources, std::uint32_t targets, double asked_share) {
    constexpr std::uint32_t middle = 2;
    constexpr std::uint32_t others = 1500;
    std::uint32_t next = middle + 1;
    for (std::uint32_t i = 0; i < sources; ++i) edges.emplace_back(next++, 1);
    edges.emplace_back(1, middle);
    for (std::uint32_t i = 0; i < targets; ++i) {
      if (i < asked_share * targets) asked.push_back(next);
      edges.emplace_back(middle, next++);
    }
    for (std::uint32_t i = 0; i < others; ++i, next += 2) edges.emplace_back(next, next + 1);
  }
};

/// @param test of the join, empty or one that rules evaluated row by row do not know
std::string siblings(const std::string& test) {
  return ".decl e(x:unsigned, y:unsigned)\n.decl d(x:unsigned)\n.decl s(x:unsigned, y:unsigned)\n"
         ".decl r(x:unsigned, y:unsigned)\ns(x,y) :- e(x,y).\ns(x,y) :- s(x,z), e(z,y).\n"
         "r(x,y) :- s(z,x), s(z,y)" +
         test + ".\ns(x,y) :- d(x), r(x,y), d(y), x < 70.\n";
}

struct given_up_outcome {
  std::set<std::pair<std::uint32_t, std::uint32_t>> siblings, paths;
  std::optional<double> given_up;
  bool was_watched = false;
};

std::set<std::pair<std::uint32_t, std::uint32_t>> rows_of(const relation& source) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> rows;
  for (const tuple& row : source) {
    rows.emplace(static_cast<std::uint32_t>(row.word64(0)), static_cast<std::uint32_t>(row.word64(1)));
  }
  EXPECT_EQ(rows.size(), source.size()) << "rows repeat";
  return rows;
}

given_up_outcome run(const std::string& text, const hub& input, const run_options& options) {
  engine running(program::from_text(text, {.warnings = false}), options);
  relation e = running.relation("e");
  for (const auto& [x, y] : input.edges) e.insert({value(x), value(y)});
  relation d = running.relation("d");
  for (const std::uint32_t x : input.asked) d.insert({value(x)});
  running.evaluate();
  given_up_outcome found{rows_of(running.relation("r")), rows_of(running.relation("s")), {}, false};
  for (const stratum_statistics& stratum : running.figures().strata) {
    if (stratum.given_up) found.given_up = stratum.given_up;
    found.was_watched = found.was_watched || !stratum.was_run;
    if (!stratum.was_run) EXPECT_TRUE(stratum.rules.empty());
  }
  return found;
}

run_options with(storage_kind storage, unsigned jobs, const char* rows = "auto") {
  run_options options;
  options.storage = storage;
  options.jobs = jobs;
  options.tuning = {{"row-wise-evaluation", rows}};
  options.backend = backend_kind::cpu;
  return options;
}

const std::vector<std::pair<storage_kind, unsigned>> storages = {
    {storage_kind::automatic, 1}, {storage_kind::automatic, 4}, {storage_kind::hash, 1},  {storage_kind::hash, 4},
    {storage_kind::bits, 1},      {storage_kind::bits, 4},      {storage_kind::words, 1}, {storage_kind::words, 4},
    {storage_kind::hisa, 1},      {storage_kind::hisa, 4}};

TEST(given_up, where_most_is_asked_for_release_only) {
  const bool on_device = has_device();
  const bool is_emulated = has_emulated_device();
  for (const double asked : {1.0, 0.6, 0.1}) {
    const hub input(100, 100, asked);
    for (const std::string test : {"", ", z != x"}) {
      const std::string text = siblings(test);
      run_options off = with(storage_kind::hash, 1);
      off.tuning["magic-sets"] = "off";
      const given_up_outcome expected = run(text, input, off);
      EXPECT_FALSE(expected.was_watched);
      for (const auto& [storage, jobs] : storages) {
        SCOPED_TRACE(text + std::to_string(asked) + ", storage " + std::to_string(static_cast<int>(storage)));
        const given_up_outcome found = run(text, input, with(storage, jobs));
        EXPECT_TRUE(found.siblings == expected.siblings && found.paths == expected.paths);
        EXPECT_TRUE(found.was_watched);
        // What is made row-wise behind costs little.
        const bool row_wise = test.empty() && storage != storage_kind::hisa;
        EXPECT_EQ(found.given_up.has_value(), asked == 1.0 || (asked == 0.6 && !row_wise));
        if (found.given_up) EXPECT_GT(*found.given_up, asked * asked / 2);
        const bool is_enough = is_emulated && (jobs != 1 || asked != 1.0);
        if (!on_device || is_enough) continue;
        run_options there = with(storage, 1);
        there.backend = backend_kind::gpu;
        const given_up_outcome device = run(text, input, there);
        EXPECT_TRUE(device.siblings == expected.siblings && device.paths == expected.paths);
      }
    }
  }
}

TEST(given_up, never_where_somebody_wants_it_release_only) {
  const hub input(60, 60, 1);
  run_options options = with(storage_kind::automatic, 1, "off");
  const given_up_outcome given_up = run(siblings(""), input, options);
  EXPECT_TRUE(given_up.given_up.has_value());
  options.tuning["magic-sets"] = "on";
  const given_up_outcome kept = run(siblings(""), input, options);
  EXPECT_FALSE(kept.given_up || kept.was_watched);
  EXPECT_TRUE(kept.siblings == given_up.siblings && kept.paths == given_up.paths);
}

}  // namespace
}  // namespace gpulog
