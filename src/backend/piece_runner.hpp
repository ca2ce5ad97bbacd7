#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

namespace gpulog::backend {

/// Distributes pieces of work over a backend's workers, for code that is not a template.
class piece_runner {
 public:
  using piece_action = std::function<void(std::uint64_t piece)>;

  /// Runs all pieces on the calling thread.
  piece_runner() = default;
  /// Number of elements that takes about as long as starting a worker (`bench/closures/threads`; no other value was
  /// tried).
  static constexpr std::uint64_t usual_range = 1u << 13;

  /// The backend must outlive the runner.
  /// @param least minimum number of elements per worker
  template <class Backend>
  explicit piece_runner(Backend& backend, std::uint64_t least = usual_range)
      : workers_(backend.workers()), least_(least), run_([&backend](std::uint64_t pieces, const piece_action& action) {
          backend.for_each_tile(pieces, 1, [&action](unsigned, std::uint64_t piece, std::uint64_t) { action(piece); });
        }) {}

  [[nodiscard]] unsigned workers() const { return workers_; }

  /// Calls action(piece) for each number below `pieces`, on any worker.
  void run(std::uint64_t pieces, const piece_action& action) const {
    if (workers_ == 1 || pieces <= 1) {
      for (std::uint64_t piece = 0; piece < pieces; ++piece) action(piece);
    } else {
      run_(pieces, action);
    }
  }

  /// Returns the number of ranges for n elements: several per worker, because ranges take different times.
  [[nodiscard]] std::uint64_t ranges(std::uint64_t n) const {
    constexpr std::uint64_t ranges_per_worker = 4;
    return workers_ == 1 ? 1 : std::clamp<std::uint64_t>(n / least_, 1, workers_ * ranges_per_worker);
  }
  /// Calls action(number, begin, end) for each range of n elements.
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
