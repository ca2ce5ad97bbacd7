// Processor seconds of inserting batches of edges after an evaluation, compared with an evaluation from scratch.
//
//   bench_again reach|cspa [EDGES] [BATCH] [BATCHES]
//
// reach: separate chains of 100 edges, EDGES edges in total. cspa: assignments and dereferences within blocks of 32
// nodes; with GPULOG_CSPA, a folder with assign.facts and dereference.facts, EDGES copies of these files with shifted
// numbers. Each batch has BATCH edges between new nodes, so that few tuples follow.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gpulog/engine.hpp"
#include "processor_seconds.hpp"

namespace {

using pairs = std::vector<std::pair<std::int32_t, std::int32_t>>;

const char* const reach_text =
    ".decl edge(x:number, y:number)\n.decl reach(x:number, y:number)\n"
    "reach(x,y) :- edge(x,y).\nreach(x,y) :- reach(x,z), edge(z,y).\n";
const char* const cspa_text =
    ".decl edge(x:number, y:number)\n.decl dereference(x:number, y:number)\n"
    ".decl ValueFlow(x:number, y:number)\n.decl ValueAlias(x:number, y:number)\n"
    ".decl MemoryAlias(x:number, y:number)\n"
    "ValueFlow(y,x) :- edge(y,x).\nValueFlow(x,x) :- edge(x,_).\nValueFlow(x,x) :- edge(_,x).\n"
    "MemoryAlias(x,x) :- edge(_,x).\nMemoryAlias(x,x) :- edge(x,_).\n"
    "ValueFlow(x,y) :- ValueFlow(x,z), ValueFlow(z,y).\nValueFlow(x,y) :- edge(x,z), MemoryAlias(z,y).\n"
    "ValueAlias(x,y) :- ValueFlow(z,x), ValueFlow(z,y).\n"
    "ValueAlias(x,y) :- ValueFlow(z,x), MemoryAlias(z,w), ValueFlow(w,y).\n"
    "MemoryAlias(x,w) :- dereference(y,x), ValueAlias(y,z), dereference(z,w).\n";

double seconds_of_evaluation(gpulog::engine& run) {
  const double begin = processor_seconds();
  run.evaluate();
  return processor_seconds() - begin;
}

void insert(gpulog::engine& run, const char* name, const pairs& rows) {
  auto target = run.relation(name);
  for (const auto& [from, to] : rows) target.insert({from, to});
}

std::uint64_t results(gpulog::engine& run, bool is_reach) {
  if (is_reach) return run.relation("reach").size();
  return run.relation("ValueFlow").size() + run.relation("ValueAlias").size() + run.relation("MemoryAlias").size();
}

gpulog::engine make(const gpulog::program& text, const char* continuation) {
  gpulog::run_options options;
  options.backend = gpulog::backend_kind::cpu;
  options.tuning["continuation"] = continuation;
  return gpulog::engine(text, options);
}

pairs blocks(std::uint64_t edges, unsigned seed) {
  constexpr std::int32_t block = 32;
  std::mt19937 random(seed);
  pairs made;
  for (std::uint64_t i = 0; i < edges; ++i) {
    const auto first = static_cast<std::int32_t>(i / 24) * block;
    made.emplace_back(first + static_cast<std::int32_t>(random() % block),
                      first + static_cast<std::int32_t>(random() % block));
  }
  return made;
}

pairs chains(std::uint64_t edges) {
  constexpr std::uint64_t length = 100;
  pairs made;
  for (std::uint64_t i = 0; i < edges; ++i) {
    const auto node = static_cast<std::int32_t>(i + i / length);
    made.emplace_back(node, node + 1);
  }
  return made;
}

/// Returns copies of a file's rows with shifted numbers.
pairs copies(const std::string& path, std::uint64_t copies_wanted) {
  std::ifstream file(path);
  pairs read;
  std::int32_t from = 0;
  std::int32_t to = 0;
  while (file >> from >> to) read.emplace_back(from, to);
  constexpr std::int32_t most = 1 << 20;
  pairs made;
  for (std::uint64_t copy = 0; copy < copies_wanted; ++copy) {
    const auto offset = static_cast<std::int32_t>(copy) * most;
    for (const auto& [first, second] : read) made.emplace_back(first + offset, second + offset);
  }
  return made;
}

/// Excludes the first batch, which may include the takeover of the results.
void print_summary(std::vector<double> seconds, double scratch) {
  const double first = seconds.front();
  seconds.erase(seconds.begin());
  std::sort(seconds.begin(), seconds.end());
  const double mean = std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size());
  const auto at = [&](double share) {
    return seconds[static_cast<std::size_t>(share * static_cast<double>(seconds.size() - 1))];
  };
  std::printf(
      "  first batch %.4f s; then of %zu: median %.4f s (%.1f %%), 9 of 10 below %.4f s, most %.4f s, mean %.4f s "
      "(%.1f %%)\n",
      first, seconds.size(), at(0.5), 100 * at(0.5) / scratch, at(0.9), seconds.back(), mean, 100 * mean / scratch);
}

}  // namespace

int main(int count, char** arguments) {
  const std::string query = count > 1 ? arguments[1] : "";
  if (query != "reach" && query != "cspa") {
    std::puts(
        "bench_again reach|cspa [EDGES] [BATCH] [BATCHES]\n"
        "GPULOG_CSPA: a folder with assign.facts and dereference.facts; EDGES are then copies of it");
    return 1;
  }
  const bool is_reach = query == "reach";
  const std::uint64_t edges = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 100000;
  const std::uint64_t batch = count > 3 ? std::strtoull(arguments[3], nullptr, 10) : 1000;
  const std::uint64_t batches = count > 4 ? std::strtoull(arguments[4], nullptr, 10) : 5;
  const char* const folder = std::getenv("GPULOG_CSPA");
  const bool is_read = !is_reach && folder != nullptr;
  const pairs facts = is_reach  ? chains(edges)
                      : is_read ? copies(std::string(folder) + "/assign.facts", edges)
                                : blocks(edges, 1);
  const pairs others = is_read    ? copies(std::string(folder) + "/dereference.facts", edges)
                       : is_reach ? pairs()
                                  : blocks(edges / 4, 2);
  const auto text = gpulog::program::from_text(is_reach ? reach_text : cspa_text);
  for (const char* const mode : {"on", "auto", "off"}) {
    gpulog::engine run = make(text, mode);
    insert(run, "edge", facts);
    if (!others.empty()) insert(run, "dereference", others);
    const double scratch = seconds_of_evaluation(run);
    std::printf("%s, continuation %s: %llu results, %.3f s from scratch\n", query.c_str(), mode,
                static_cast<unsigned long long>(results(run, is_reach)), scratch);
    std::int32_t node = 2000000000;
    std::vector<double> all_seconds;
    for (std::uint64_t number = 1; number <= batches; ++number) {
      pairs added;
      for (std::uint64_t i = 0; i < batch; ++i, node += 2) added.emplace_back(node, node + 1);
      const std::uint64_t before = results(run, is_reach);
      insert(run, "edge", added);
      const double seconds = seconds_of_evaluation(run);
      all_seconds.push_back(seconds);
      if (batches > 10) continue;
      std::printf("  batch %llu: %zu edges, %llu results, %.4f s, %.1f %%\n", static_cast<unsigned long long>(number),
                  added.size(), static_cast<unsigned long long>(results(run, is_reach) - before), seconds,
                  100 * seconds / scratch);
    }
    if (batches > 10) print_summary(all_seconds, scratch);
  }
}
