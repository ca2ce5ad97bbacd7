#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "kernels/join/pipeline.hpp"
#include "plan/plan.hpp"
#include "support/ids.hpp"

namespace gpulog::exec {

/// The current work of a fixpoint.
struct running_step {
  static constexpr std::size_t no_stratum = SIZE_MAX;

  const char* doing = "";  ///< "extending", "indexing", ...; empty: no long operation
  relation_id relation;
  const plan::rule_version* version = nullptr;  ///< nullptr: no rule
  std::size_t stratum = no_stratum;
  std::uint64_t iteration = 0;  ///< of the loop, 1-based; 0: before the loop
  double begin = 0;             ///< seconds of the steady clock, accurate to a few milliseconds
  std::uint64_t rows = 0;       ///< rows of the version's first expansion, if known
};

/// Receives the start and end of strata and rules, on the running thread.
class run_listener {
 public:
  run_listener() = default;
  run_listener(const run_listener&) = delete;
  run_listener& operator=(const run_listener&) = delete;
  virtual ~run_listener() = default;
  virtual void begin_stratum(std::size_t number) = 0;
  virtual void end_stratum(std::size_t number) = 0;
  virtual void begin_step(const running_step& now) = 0;
  virtual void end_step(const running_step& now) = 0;
};

/// Lets further threads observe a run (a monitor: Hoare, 1974). The running thread holds the monitor except during long
/// steps, in which it changes nothing observable.
class run_monitor {
 public:
  /// Holds the monitor for a part of the run.
  class holding {
   public:
    explicit holding(run_monitor& held) : held_(held) {
      held.take();
      held.can_leave_ = true;
    }
    ~holding() {
      held_.can_leave_ = false;
      held_.release();
    }
    holding(const holding&) = delete;
    holding& operator=(const holding&) = delete;

   private:
    run_monitor& held_;
  };

  /// A long step of the thread that holds the monitor. Nested steps belong to the outer step. Without a holder, as when
  /// results are read after the run, a step has no effect.
  class long_step {
   public:
    /// @param monitor nullptr: not observed
    long_step(run_monitor* monitor, const char* doing, relation_id relation, const plan::rule_version* version,
              std::uint64_t rows = 0)
        : monitor_(monitor != nullptr && monitor->can_leave_ ? monitor : nullptr) {
      if (monitor_ != nullptr) monitor_->leave(doing, relation, version, rows);
    }
    ~long_step() {
      if (monitor_ != nullptr) monitor_->come_back();
    }
    long_step(const long_step&) = delete;
    long_step& operator=(const long_step&) = delete;

   private:
    run_monitor* monitor_;
  };

  /// Observes the run from a different thread.
  /// @return false if the monitor was not available in time
  template <class Action>
  bool look(std::chrono::milliseconds patience, const Action& action) {
    const std::lock_guard one_at_a_time(lookers_);
    const auto end = std::chrono::steady_clock::now() + patience;
    is_wanted_ = true;
    while (is_held_.exchange(true, std::memory_order_acquire)) {
      if (std::chrono::steady_clock::now() >= end) {
        is_wanted_ = false;
        return false;
      }
      std::this_thread::sleep_for(pause);
    }
    is_wanted_ = false;
    const struct released {
      std::atomic<bool>& held;
      ~released() { held.store(false, std::memory_order_release); }
    } at_the_end{is_held_};
    action();
    return true;
  }

  /// Called by the running thread between operations: lets waiting observers proceed.
  void give_way() {
    if (!is_wanted_.load(std::memory_order_relaxed)) return;
    release();
    take();
  }

  /// Called by the holder: starts a run with a new plan, discarding the old state.
  void begin_run() {
    now_ = {};
    failed_.reset();
    iteration_ = nullptr;
  }

  /// Called by the running thread: starts a stratum.
  /// @param iteration updated by the loop
  void begin_stratum(std::size_t number, const word* iteration) {
    now_.stratum = number;
    iteration_ = iteration;
    failed_.reset();
    if (listener != nullptr) listener->begin_stratum(number);
  }
  void end_stratum() {
    if (listener != nullptr) listener->end_stratum(now_.stratum);
    iteration_ = nullptr;
  }
  /// Records the step that an exception ends; only the first call counts.
  void note_failure(const char* doing, relation_id relation, const plan::rule_version* version) {
    if (failed_) return;
    failed_ = now_;
    if (can_leave_) failed_->begin = 0;  // of a different step
    failed_->doing = doing;
    failed_->relation = relation;
    failed_->version = version;
    failed_->iteration = iteration_ == nullptr ? 0 : *iteration_;
  }

  /// Called by the holder: returns the current step, or the step in which the run failed.
  [[nodiscard]] running_step now() const {
    running_step step = failed_.value_or(now_);
    if (!failed_) step.iteration = iteration_ == nullptr ? 0 : *iteration_;
    return step;
  }
  /// Returns the progress of the current step.
  [[nodiscard]] const kernels::pipeline_progress& progress() const { return progress_; }
  [[nodiscard]] kernels::pipeline_progress* progress() { return &progress_; }

  run_listener* listener = nullptr;

 private:
  static constexpr std::chrono::microseconds pause{200};

  void take() {
    while (is_held_.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  }
  /// Waiting observers come first.
  void release() {
    is_held_.store(false, std::memory_order_release);
    while (is_wanted_.load(std::memory_order_relaxed)) std::this_thread::sleep_for(pause);
  }
  void leave(const char* doing, relation_id relation, const plan::rule_version* version, std::uint64_t rows) {
    now_.doing = doing;
    now_.relation = relation;
    now_.version = version;
    now_.rows = rows;
    now_.begin = coarse_seconds();
    now_.iteration = iteration_ == nullptr ? 0 : *iteration_;
    if (version != nullptr) {  // otherwise the progress of an interrupted rule is still needed
      progress_.rows.store(0, std::memory_order_relaxed);
      progress_.candidates.store(0, std::memory_order_relaxed);
    }
    if (listener != nullptr) listener->begin_step(now_);
    can_leave_ = false;
    release();
  }
  void come_back() {
    take();
    can_leave_ = true;
    if (listener != nullptr) listener->end_step(now_);
    now_.doing = "";
    now_.version = nullptr;
  }
  [[nodiscard]] static double coarse_seconds();

  std::atomic<bool> is_held_ = false;
  std::atomic<bool> is_wanted_ = false;
  std::mutex lookers_;
  bool can_leave_ = false;  ///< the running thread holds the monitor; used by the running thread
  running_step now_;
  std::optional<running_step> failed_;
  const word* iteration_ = nullptr;
  kernels::pipeline_progress progress_;
};

}  // namespace gpulog::exec
