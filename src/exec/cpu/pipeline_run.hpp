#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "exec/calibration.hpp"
#include "exec/cpu/run_memory.hpp"
#include "exec/executor.hpp"
#include "exec/fixpoint/phase_figures.hpp"
#include "kernels/join/searched_indexes.hpp"
#include "kernels/join/tile_runner.hpp"
#include "storage/calibration.hpp"
#include "storage/relation/relation.hpp"

namespace gpulog::exec {

/// Data that all runs of a machine use.
template <class Backend>
struct run_means {
  Backend* backend;
  backend::memory_resource* resource;
  const std::vector<std::unique_ptr<kernels::tile_scratch>>* scratch;  ///< by worker
  const cut_offs* cut;

  /// Returns how many workers have enough work, if each additional worker needs this many candidates.
  [[nodiscard]] unsigned workers_for(double candidates, double worth_a_second) const {
    const unsigned all = backend->workers();
    if (worth_a_second == 0) return all;
    return static_cast<unsigned>(std::clamp<double>(candidates * 2 / worth_a_second, 2, all));
  }
};

/// Runs of a pipeline, one after another. Workers divide the rows of the first segment, and leave bindings with many
/// matches to all workers. A run of the calling thread becomes a run of several workers if the work exceeds the
/// expectation. Runs of different pipelines can share workers (join()).
template <class Backend>
class pipeline_run final : private kernels::match_sharer {
 public:
  using relation = storage::relation;

  pipeline_run(const run_means<Backend>& means, const kernels::pipeline& program,
               kernels::relation_list<relation>& relations, const std::atomic<bool>* stop)
      : match_sharer(means.cut->shared_matches),
        means_(means),
        program_(&program),
        relations_(&relations),
        stop_(stop),
        memory_(program, *means.resource),
        may_share_(means.backend->workers() > 1 && !program.observes_order()) {}

  [[nodiscard]] bool are_of(const kernels::pipeline& program) const { return program_ == &program; }

  /// Runs rows [0, rows) of the first segment.
  /// @param given columns of the rows; nullptr: from the relation
  pipeline_counts run(std::uint64_t rows, unsigned workers, const word* const* given) {
    counts_ = {};
    waiting_.clear();
    std::uint64_t begin = 0;
    if (workers == 1) {
      begin = run_alone(rows, given);
      if (begin == rows && waiting_.empty()) return end_run();
      workers = means_.workers_for(expected_rest(counts_.bindings, begin, rows), means_.cut->parallel_candidates);
    }
    kernels::refresh_searched(*program_, *relations_);
    kernels::worker_gate gate(workers);
    auto pool = means_.backend->make_pool(workers);
    join(pool, gate);
    pool.run([&](unsigned worker) {
      for (shared_pointer& one : waiting_) add_matches(std::move(one));
      if (begin < rows) run_rows(worker, {begin, rows}, piece_of(rows, workers), given);
    });
    pool_ = nullptr;
    end_workers();
    workers_.clear();
    return end_run();
  }

  /// Uses workers that run other pipelines at the same time. Indexes must be up to date.
  void join(typename Backend::task_pool& pool, kernels::worker_gate& gate) {
    pool_ = &pool;
    gate_ = &gate;
    workers_ = std::vector<worker_run>(gate.workers());
  }
  /// Runs the rows of a version from an action of the pool. A fault ends the run of this version only.
  void run_joined(unsigned worker, const phase_version& version) {
    is_joined_ = true;
    appended_before_ = target().appended_rows();
    const bool is_small = version.expected_candidates < means_.cut->parallel_candidates;
    run_rows(worker, {0, version.rows}, is_small ? version.rows : piece_of(version.rows, gate_->workers()), nullptr);
  }
  /// Call after the end of the pool's actions. A version with a fault is left.
  void end_joined(phase_version& version) {
    if (has_fault_) return target().forget_appended(appended_before_);
    end_workers();
    version.counts = end_run();
    version.seconds = version.counts.worker_seconds;
    version.state = phase_version::outcome::done;
  }

  /// feed(take) calls take(worker, begin, end, given) for pieces of the first rows, concurrently if there are several
  /// workers.
  template <class Feed>
  pipeline_counts run_fed(unsigned workers, const Feed& feed) {
    if (workers == 1) {
      auto& runner = only_runner(nullptr);
      feed([&](unsigned, std::uint64_t begin, std::uint64_t end, const word* const* given) {
        runner.run(begin, end, make_room(), given);
      });
      add_counts(runner);
    } else {
      kernels::refresh_searched(*program_, *relations_);
      kernels::worker_gate gate(workers);
      gate_ = &gate;
      workers_ = std::vector<worker_run>(workers);
      feed([&](unsigned worker, std::uint64_t begin, std::uint64_t end, const word* const* given) {
        on(worker, nullptr, [&](auto& runner) { runner.run(begin, end, make_room(), given); });
      });
      end_workers();
    }
    return end_run();
  }

 private:
  using shared_pointer = std::shared_ptr<const kernels::shared_matches>;
  struct piece_of_work {
    std::uint64_t begin;
    std::uint64_t end;

    /// Removes the second half, in whole pieces.
    [[nodiscard]] piece_of_work split(std::uint64_t piece) {
      const std::uint64_t middle = begin + ((end - begin) / 2 + piece - 1) / piece * piece;
      return {middle, std::exchange(end, middle)};
    }
  };
  /// Workers write to their own cache lines only.
  struct alignas(128) worker_run {
    std::optional<kernels::tile_runner<storage::concurrent_access>> runner;
    double seconds = 0;
  };

  [[nodiscard]] relation& target() const { return *(*relations_)[program_->target]; }
  [[nodiscard]] auto make_room() const {
    return
        [this](std::uint64_t room, const auto&... helpers) { target().make_room(*means_.backend, room, helpers...); };
  }
  /// @param sharer the same in each run
  [[nodiscard]] auto& only_runner(kernels::match_sharer* sharer) {
    gate_ = &only_gate_;
    pool_ = nullptr;
    if (only_) {
      only_->restart();
    } else {
      only_.emplace(*program_, *relations_, 0U, *means_.scratch->front(), *gate_, stop_, memory_.windows(),
                    memory_.folded(), sharer);
    }
    return *only_;
  }
  template <class Runner>
  void add_counts(const Runner& runner) {
    counts_.candidates += runner.candidates();
    counts_.fresh += runner.fresh();
    counts_.bindings += runner.bindings();
    runner.add_counts();
  }
  [[nodiscard]] pipeline_counts end_run() {
    if (program_->counted != nullptr) ++program_->counted->runs;
    counts_.fresh += target().choose(*means_.backend);
    return counts_;
  }

  /// Runs rows on the calling thread until the remaining rows and matches are work for several workers.
  /// @return the number of rows
  std::uint64_t run_alone(std::uint64_t rows, const word* const* given) {
    auto& runner = only_runner(sharer());
    std::uint64_t done = may_share_ ? std::min<std::uint64_t>(rows, storage::tile_rows) : rows;
    runner.run(0, done, make_room(), given);
    while (done < rows && waiting_.empty() &&
           expected_rest(runner.bindings(), done, rows) < means_.cut->parallel_candidates) {
      const std::uint64_t begin = std::exchange(done, std::min(rows, done + storage::tile_rows));
      runner.run(begin, done, make_room(), given);
    }
    add_counts(runner);
    return done;
  }
  /// Returns the expected number of bindings of waiting matches and of the rows after the first `done`.
  [[nodiscard]] double expected_rest(std::uint64_t bindings, std::uint64_t done, std::uint64_t rows) const {
    double rest = static_cast<double>(bindings) / static_cast<double>(done) * static_cast<double>(rows - done);
    for (const shared_pointer& one : waiting_) rest += static_cast<double>(one->size());
    return rest;
  }

  /// Returns the number of rows of a piece: enough pieces for workers to end together, but no piece smaller than its
  /// overhead.
  [[nodiscard]] static std::uint64_t piece_of(std::uint64_t rows, unsigned workers) {
    return std::clamp<std::uint64_t>(rows / (workers * 16ULL), 1, calibration::tiles_of_a_piece * storage::tile_rows);
  }
  void end_workers() {
    for (const worker_run& one : workers_) {
      if (!one.runner) continue;
      counts_.worker_seconds += one.seconds;
      add_counts(*one.runner);
    }
  }
  template <class Action>
  void on(unsigned worker, kernels::match_sharer* sharer, const Action& action) {
    if (has_fault_.load(std::memory_order_relaxed)) return;
    worker_run& own = workers_[worker];
    const double start = storage::seconds_now();
    try {
      run_on(own, worker, sharer, action);
    } catch (const kernels::arithmetic_fault&) {
      keep_fault();
    } catch (const kernels::rule_fault&) {
      keep_fault();
    } catch (const kernels::over_budget&) {
      keep_fault();
    } catch (const backend::memory_exceeded&) {
      keep_fault();
    }
    own.seconds += storage::seconds_now() - start;
  }
  /// Requires a current exception, and throws it unless the version runs beside others.
  void keep_fault() {
    if (!is_joined_) throw;
    has_fault_ = true;
  }
  template <class Action>
  void run_on(worker_run& own, unsigned worker, kernels::match_sharer* sharer, const Action& action) {
    if (!own.runner)
      own.runner.emplace(*program_, *relations_, worker, *(*means_.scratch)[worker], *gate_, stop_, memory_.windows(),
                         memory_.folded(), sharer);
    action(*own.runner);
  }
  void run_rows(unsigned worker, piece_of_work rows, std::uint64_t piece, const word* const* given) {
    while (rows.end - rows.begin > piece) {
      const piece_of_work rest = rows.split(piece);
      pool_->add([this, rest, piece, given](unsigned other) { run_rows(other, rest, piece, given); });
    }
    on(worker, sharer(), [&](auto& runner) { runner.run(rows.begin, rows.end, make_room(), given); });
  }
  void run_matches(unsigned worker, const shared_pointer& matches, piece_of_work numbers) {
    const std::uint64_t piece = std::max<std::uint64_t>(means_.cut->shared_matches / 2, 1);
    while (numbers.end - numbers.begin > piece) {
      const piece_of_work rest = numbers.split(piece);
      pool_->add([this, matches, rest](unsigned other) { run_matches(other, matches, rest); });
    }
    on(worker, sharer(), [&](auto& runner) { runner.run_matches(*matches, numbers.begin, numbers.end, make_room()); });
  }

  [[nodiscard]] kernels::match_sharer* sharer() { return may_share_ ? this : nullptr; }
  [[nodiscard]] bool has_space() const override {
    return tiles_.load(std::memory_order_relaxed) < calibration::shared_tiles_of_a_worker * means_.backend->workers();
  }
  void share(kernels::shared_matches matches) override {
    tiles_.fetch_add(1, std::memory_order_relaxed);
    const auto forget = [this](const kernels::shared_matches* done) {
      tiles_.fetch_sub(1, std::memory_order_relaxed);
      delete done;
    };
    shared_pointer shared(new kernels::shared_matches(std::move(matches)), forget);
    if (pool_ == nullptr) {
      waiting_.push_back(std::move(shared));
    } else {
      add_matches(std::move(shared));
    }
  }
  void add_matches(shared_pointer matches) {
    pool_->add([this, all = std::move(matches)](unsigned worker) { run_matches(worker, all, {0, all->size()}); });
  }

  run_means<Backend> means_;
  const kernels::pipeline* program_;
  kernels::relation_list<relation>* relations_;
  const std::atomic<bool>* stop_;
  run_memory memory_;
  bool may_share_;
  kernels::worker_gate only_gate_{1};
  std::optional<kernels::tile_runner<storage::exclusive_access>> only_;  ///< of the calling thread; kept between runs
  kernels::worker_gate* gate_ = &only_gate_;
  pipeline_counts counts_;
  std::vector<worker_run> workers_;
  typename Backend::task_pool* pool_ = nullptr;  ///< nullptr: the calling thread runs alone
  std::atomic<std::uint64_t> tiles_ = 0;         ///< number of shared tiles that are not complete
  std::vector<shared_pointer> waiting_;          ///< shared before the workers started
  // Beside other runs (join()).
  bool is_joined_ = false;
  std::atomic<bool> has_fault_ = false;
  std::uint64_t appended_before_ = 0;
};

}  // namespace gpulog::exec
