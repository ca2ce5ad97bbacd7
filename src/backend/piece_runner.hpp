#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

namespace gpulog::backend {

/// Workers of a backend, for code that is no template: it hands out pieces of work.
class piece_runner {
 public:
  using piece_action = std::function<void(std::uint64_t piece)>;

  /// One worker.
  piece_runner() = default;
  /// Elements that take about as long as starting a worker. `bench/closures/threads` shows it; others were not tried.
  static constexpr std::uint64_t usual_range = 1u << 13;

  /// The backend outlives it. @param least elements that are worth a worker
  template <class Backend>
  explicit piece_runner(Backend& backend, std::uint64_t least = usual_range)
      : workers_(backend.workers()), least_(least), run_([&backend](std::uint64_t pieces, const piece_action& action) {
          backend.for_each_tile(pieces, 1, [&action](unsigned, std::uint64_t piece, std::uint64_t) { action(piece); });
        }) {}

  [[nodiscard]] unsigned workers() const { return workers_; }

  /// action(piece) for each number below `pieces`, on any worker.
  void run(std::uint64_t pieces, const piece_action& action) const {
    if (workers_ == 1 || pieces <= 1) {
      for (std::uint64_t piece = 0; piece < pieces; ++piece) action(piece);
    } else {
      run_(pieces, action);
    }
  }

  /// Ranges that n elements are cut into: several for each worker, as they take different times.
  [[nodiscard]] std::uint64_t ranges(std::uint64_t n) const {
    constexpr std::uint64_t ranges_per_worker = 4;
    return workers_ == 1 ? 1 : std::clamp<std::uint64_t>(n / least_, 1, workers_ * ranges_per_worker);
  }
  /// action(number, begin, end) for each of the ranges of n elements.
  template <class Action>
  void for_each_range(std::uint64_t n, const Action& action) const {
    const std::uint64_t all = ranges(n);
    run(all, [&](std::uint64_t number) { action(number, n * number / all, n * (number + 1) / all); });
  }

 private:
  unsigned workers_ = 1;
  std::uint64_t least_ = usual_range;
  std::function<void(std::uint64_t, const piece_action&)> run_;
};

}  // namespace gpulog::backend
