// Processor seconds of an evaluation after edges are inserted into or erased from one relation.
//
//   bench_deletions PROGRAM FACTS RELATION [EDGES] [BATCHES] [changes]
//
// Evaluates PROGRAM on the fact files in FACTS from scratch. Each batch then inserts EDGES new tuples (columns of
// different tuples of RELATION), evaluates, erases the tuples, evaluates, erases EDGES present tuples, evaluates, and
// inserts these tuples again. RELATION has columns of numbers or symbols. With `changes`, the time includes
// engine::changes for each relation.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "gpulog/engine.hpp"
#include "processor_seconds.hpp"

namespace {

using rows = std::vector<std::vector<gpulog::value>>;

class measured_engine {
 public:
  measured_engine(const gpulog::program& source, const gpulog::run_options& options, const char* relation)
      : engine_(source, options), relation_(relation), reads_changes_(options.changes) {}

  double scratch() {
    engine_.load();
    return evaluate();
  }
  double insert(const rows& tuples) {
    for (const auto& tuple : tuples) engine_.relation(relation_).insert(tuple);
    return evaluate();
  }
  double erase(const rows& tuples) {
    for (const auto& tuple : tuples) engine_.relation(relation_).erase(tuple);
    return evaluate();
  }
  [[nodiscard]] rows tuples() {
    rows all;
    for (const gpulog::tuple row : engine_.relation(relation_)) {
      std::vector<gpulog::value>& values = all.emplace_back();
      for (std::size_t c = 0; c < row.size(); ++c) values.push_back(row.value(c));
    }
    return all;
  }
  [[nodiscard]] std::uint64_t size() {
    std::uint64_t all = 0;
    for (const gpulog::relation& one : engine_.relations()) all += one.size();
    return all;
  }
  /// Returns the number of tuples that the last evaluation added or removed; 0 unless changes are read.
  [[nodiscard]] std::uint64_t changes() const { return changes_; }

 private:
  double evaluate() {
    const double begin = processor_seconds();
    engine_.evaluate();
    if (reads_changes_) {
      changes_ = 0;
      for (const gpulog::relation& one : engine_.relations()) {
        const gpulog::changed_rows changed = engine_.changes(one.name());
        changes_ += changed.added.size() + changed.removed.size();
      }
    }
    return processor_seconds() - begin;
  }

  gpulog::engine engine_;
  const char* relation_;
  bool reads_changes_;
  std::uint64_t changes_ = 0;
};

}  // namespace

int main(int count, char** texts) {
  if (count < 4) {
    std::fprintf(stderr, "usage: bench_deletions PROGRAM FACTS RELATION [EDGES] [BATCHES] [changes]\n");
    return 1;
  }
  const std::size_t edges = count > 4 ? std::strtoul(texts[4], nullptr, 10) : 1;
  const int batches = count > 5 ? std::atoi(texts[5]) : 5;
  const auto program = gpulog::program::from_file(texts[1]);
  for (const char* const continuation : {"auto", "on", "off"}) {
    gpulog::run_options options;
    options.fact_directory = texts[2];
    options.output_directory = "";
    options.backend = gpulog::backend_kind::cpu;
    options.changes = count > 6 && std::string(texts[6]) == "changes";
    options.tuning = {{"continuation", continuation}, {"unneeded-relations", "on"}};
    measured_engine run(program, options, texts[3]);
    const double scratch = run.scratch();
    std::printf("continuation %s: %.4f s from scratch, %llu tuples\n", continuation, scratch,
                static_cast<unsigned long long>(run.size()));
    std::mt19937 random(5);
    const rows all = run.tuples();
    for (int batch = 1; batch <= batches; ++batch) {
      rows added;
      rows present;
      for (std::size_t n = 0; n < edges; ++n) {
        auto& tuple = added.emplace_back(all[random() % all.size()]);
        tuple.back() = all[random() % all.size()].back();
        present.push_back(all[random() % all.size()]);
      }
      const auto show = [&](const char* what, double seconds) {
        std::printf("  batch %d, %zu %s: %.4f s, %.1f %%, %llu tuples, %llu changes\n", batch, edges, what, seconds,
                    100 * seconds / scratch, static_cast<unsigned long long>(run.size()),
                    static_cast<unsigned long long>(run.changes()));
        std::fflush(stdout);
      };
      show("new inserted", run.insert(added));
      show("new erased", run.erase(added));
      show("present erased", run.erase(present));
      show("present inserted", run.insert(present));
    }
  }
}
