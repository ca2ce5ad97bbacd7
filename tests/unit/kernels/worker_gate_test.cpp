// The gate at which workers wait while relations grow.

#include "kernels/join/worker_gate.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

#include "storage/sets/access.hpp"

namespace gpulog::kernels {
namespace {

constexpr unsigned workers = 3;

/// Numbers in a vector that only grows while no worker appends.
class growing_numbers {
 public:
  [[nodiscard]] bool has_room(std::uint64_t room) const { return size_ + room <= numbers_.size(); }
  void append(std::uint64_t number) {
    ++appending_;
    numbers_[size_++] = number;
    --appending_;
  }
  void grow(std::uint64_t room, const backend::piece_runner& helpers) {
    is_disturbed_ = is_disturbed_ || appending_ != 0;
    std::vector<std::uint64_t> larger(numbers_.size() * 2 + room);
    helpers.run(numbers_.size(), [&](std::uint64_t i) { larger[i] = numbers_[i]; });
    numbers_.swap(larger);
  }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::uint64_t operator[](std::uint64_t i) const { return numbers_[i]; }
  [[nodiscard]] bool is_disturbed() const { return is_disturbed_; }

 private:
  std::vector<std::uint64_t> numbers_;
  std::atomic<std::uint64_t> size_ = 0;
  std::atomic<unsigned> appending_ = 0;
  std::atomic<bool> is_disturbed_ = false;
};

template <class Action>
void run_workers(const Action& action) {
  std::vector<std::thread> threads;
  for (unsigned worker = 0; worker < workers; ++worker) threads.emplace_back([&, worker] { action(worker); });
  for (std::thread& thread : threads) thread.join();
}

TEST(worker_gate, workers_grow_two_relations_while_no_worker_appends) {
  constexpr std::uint64_t count = 3000;
  constexpr std::uint64_t appended_in_a_visit = 7;
  worker_gate gate(workers);
  growing_numbers all[2];
  run_workers([&](unsigned worker) {
    for (std::uint64_t next = 0; next < count;) {
      const worker_gate::visit inside(&gate);
      for (std::uint64_t i = 0; i < appended_in_a_visit && next < count; ++i, ++next) {
        growing_numbers& target = all[(worker + next) % 2];
        gate.require_room<storage::concurrent_access>(
            target, workers,
            [&](std::uint64_t room, const backend::piece_runner& helpers) { target.grow(room, helpers); });
        target.append(worker * count + next);
      }
    }
  });
  std::vector<unsigned> found(workers * count);
  for (const growing_numbers& one : all) {
    EXPECT_FALSE(one.is_disturbed());
    for (std::uint64_t i = 0; i < one.size(); ++i) ++found[one[i]];
  }
  EXPECT_EQ(found, std::vector<unsigned>(workers * count, 1));
}

TEST(worker_gate, a_failed_growth_reaches_the_workers_that_need_room) {
  worker_gate gate(workers);
  const growing_numbers full;
  std::atomic<unsigned> failed = 0;
  run_workers([&](unsigned worker) {
    const worker_gate::visit inside(&gate);
    if (worker == 0) return;
    try {
      gate.require_room<storage::concurrent_access>(
          full, 1, [](std::uint64_t, const backend::piece_runner&) { throw std::runtime_error("no memory"); });
    } catch (const std::runtime_error&) {
      ++failed;
    }
  });
  EXPECT_EQ(failed, workers - 1);
  const worker_gate::visit inside(&gate);  // the gate is open again
}

TEST(worker_gate, a_failed_piece_reaches_the_worker_that_needs_room) {
  worker_gate gate(workers);
  const growing_numbers full;
  std::atomic<unsigned> failed = 0;
  run_workers([&](unsigned) {
    const worker_gate::visit inside(&gate);
    try {
      gate.require_room<storage::concurrent_access>(full, 1, [](std::uint64_t, const backend::piece_runner& helpers) {
        helpers.run(100, [](std::uint64_t piece) {
          if (piece == 50) throw std::runtime_error("no memory");
        });
      });
    } catch (const std::runtime_error&) {
      ++failed;
    }
  });
  EXPECT_EQ(failed, workers);
}

TEST(worker_gate, a_single_worker_needs_no_helpers) {
  worker_gate gate(1);
  growing_numbers target;
  gate.require_room<storage::exclusive_access>(target, 5, [&](std::uint64_t room) { target.grow(room, {}); });
  EXPECT_TRUE(target.has_room(5));
}

}  // namespace
}  // namespace gpulog::kernels
