#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

/// Estimates the cost of a stratum on this machine's processors and on a device before the stratum runs.
namespace gpulog::exec {

enum class side : std::size_t { device = 0, host = 1 };
[[nodiscard]] constexpr side other_of(side one) { return one == side::device ? side::host : side::device; }

/// Work of a stratum, or of an iteration.
struct stratum_work {
  double candidates = 0;     ///< derived tuples, including duplicates
  double searched = 0;       ///< maximum candidates if the fixpoint is decomposed into searches
  std::size_t versions = 0;  ///< number of rule versions
  bool has_host_steps = false;
};

/// The work of an iteration of a recursion.
struct iteration_shape {
  std::size_t versions = 0;
  bool may_loop = false;  ///< whether the device can probably run small iterations in its loop kernel
};

/// Run times of strata. The defaults were measured on one H200 and a processor of its host
/// (bench/results/h200-sides.txt).
class placement_costs {
 public:
  /// @param condenses whether the host may evaluate components of a graph instead of searches
  explicit placement_costs(unsigned threads, bool condenses = false) : threads_(threads), condenses_(condenses) {}

  [[nodiscard]] double seconds(side where, const stratum_work& work) const {
    return where == side::host ? host_seconds(work) : device_seconds(work);
  }
  /// Estimates an iteration on the device from its measured or estimated time on the host.
  /// @param delta_rows rows at the start of the iteration
  [[nodiscard]] double device_iteration_seconds(double host_seconds, std::uint64_t delta_rows,
                                                const iteration_shape& shape) const;
  [[nodiscard]] double host_iteration_seconds(std::uint64_t delta_rows) const;
  /// Returns the time to copy relations to the opposite side.
  [[nodiscard]] static double crossing_seconds(std::size_t relations, std::uint64_t bytes);
  /// Returns the time to load rows, which may repeat.
  /// @param bytes per row
  [[nodiscard]] double loading_seconds(side where, std::uint64_t rows, std::uint64_t bytes) const;
  /// Scales the speed of the device with its memory bandwidth.
  /// @param bytes_per_second 0: unknown
  void set_device(double bytes_per_second);
  /// Corrects the estimates for a side by a part of the error of a finished stratum.
  void learn(side where, const stratum_work& done, double seconds);

 private:
  [[nodiscard]] double host_seconds(const stratum_work& work) const;
  [[nodiscard]] double device_seconds(const stratum_work& work) const;
  /// Candidates per second, using as many threads as stay busy.
  [[nodiscard]] double host_rate(double candidates) const;
  [[nodiscard]] double host_search_rate(double candidates) const;

  unsigned threads_;
  bool condenses_;
  double device_speed_ = 1;         ///< relative to the measured device
  double corrections_[2] = {1, 1};  ///< by side: correction factor for the time of candidates
};

/// Decides between iterations of a recursion on the host whether the device should continue. Sums up the time that the
/// host lost against the device; the loss may reach the cost of moving, so that both together take at most twice as
/// long as the faster of both.
class recursion_watch {
 public:
  struct situation {
    double now = 0;  ///< seconds on any clock
    std::uint64_t delta_rows = 0;
    double ready_in = 0;  ///< seconds until the device is usable
  };
  /// @param costs must outlive this object
  recursion_watch(const placement_costs& costs, const iteration_shape& shape) : costs_(&costs), shape_(shape) {}

  /// Call before each iteration.
  /// @param crossing returns the seconds that moving takes; called only if that may matter
  [[nodiscard]] bool should_move(const situation& current, const std::function<double()>& crossing);
  /// Expected times of the next iteration, for the reason in the figures.
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
