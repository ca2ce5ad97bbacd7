#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

/// What a stratum costs on this machine's processors and on a device, as far as that can be told before it has run.
namespace gpulog::exec {

enum class side : std::size_t { device = 0, host = 1 };
[[nodiscard]] constexpr side other_of(side one) { return one == side::device ? side::host : side::device; }

/// Work of a stratum, or of an iteration.
struct stratum_work {
  double candidates = 0;     ///< tuples that rules derive, duplicates too
  double searched = 0;       ///< the same of searches that a fixpoint falls apart into, at most
  std::size_t versions = 0;  ///< of rules, that run
  bool has_host_steps = false;
};

/// What an iteration of a recursion runs.
struct iteration_shape {
  std::size_t versions = 0;
  bool may_loop = false;  ///< a device can run iterations with few rows by itself, as far as that is known
};

/// Seconds of the work of a stratum; those of the machine that was measured (bench/results/h200-sides.txt: one H200,
/// and a processor of its host) unless something else is said.
class placement_costs {
 public:
  /// @param condenses whether the host may take the components of a graph in place of searches
  explicit placement_costs(unsigned threads, bool condenses = false) : threads_(threads), condenses_(condenses) {}

  [[nodiscard]] double seconds(side where, const stratum_work& work) const {
    return where == side::host ? host_seconds(work) : device_seconds(work);
  }
  /// Of an iteration, from what it took, or would take, on the host. @param delta_rows it begins with
  [[nodiscard]] double device_iteration_seconds(double host_seconds, std::uint64_t delta_rows,
                                                const iteration_shape& shape) const;
  [[nodiscard]] double host_iteration_seconds(std::uint64_t delta_rows) const;
  /// Of copying relations to the other side.
  [[nodiscard]] static double crossing_seconds(std::size_t relations, std::uint64_t bytes);
  /// Of storing rows that were loaded, which may repeat. @param bytes of a row
  [[nodiscard]] double loading_seconds(side where, std::uint64_t rows, std::uint64_t bytes) const;
  /// What the device does in a second is in proportion to what its memory delivers. @param bytes_per_second 0: not
  /// known
  void set_device(double bytes_per_second);
  /// A stratum has taken so long: what is expected of the next ones on that side moves a part of the way there.
  void learn(side where, const stratum_work& done, double seconds);

 private:
  [[nodiscard]] double host_seconds(const stratum_work& work) const;
  [[nodiscard]] double device_seconds(const stratum_work& work) const;
  /// Candidates a second on as many processors as they are work for.
  [[nodiscard]] double host_rate(double candidates) const;
  [[nodiscard]] double host_search_rate(double candidates) const;

  unsigned threads_;
  bool condenses_;
  double device_speed_ = 1;         ///< times the device that was measured
  double corrections_[2] = {1, 1};  ///< by side: of the time that candidates take
};

/// Between the iterations of a recursion that runs on the host: whether the device should go on. What the host has
/// taken longer than the device would have is summed up; it may lose as much as moving costs, so that both together
/// take at most twice what the better one of them would.
class recursion_watch {
 public:
  struct situation {
    double now = 0;  ///< seconds on any clock
    std::uint64_t delta_rows = 0;
    double ready_in = 0;  ///< seconds until the device can be used
  };
  /// @param costs outlive it
  recursion_watch(const placement_costs& costs, const iteration_shape& shape) : costs_(&costs), shape_(shape) {}

  /// Asked before each iteration. @param crossing seconds that it takes to move, asked for where that may matter
  [[nodiscard]] bool should_move(const situation& current, const std::function<double()>& crossing);
  /// What is expected of the next iteration; for the reason.
  [[nodiscard]] double next_host_seconds() const { return next_host_seconds_; }
  [[nodiscard]] double next_device_seconds() const { return next_device_seconds_; }

 private:
  const placement_costs* costs_;
  iteration_shape shape_;
  double lost_ = 0;
  bool has_begun_ = false;
  double last_begin_ = 0;
  std::uint64_t last_delta_rows_ = 0;
  double next_host_seconds_ = 0;
  double next_device_seconds_ = 0;
};

}  // namespace gpulog::exec
