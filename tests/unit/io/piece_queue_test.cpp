#include "io/piece_queue.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

namespace gpulog::io {
namespace {

TEST(piece_queue, runs_everything_that_is_added) {
  for (const unsigned threads : {1U, 2U, 8U}) {
    for (const std::uint64_t most : {std::uint64_t{1}, std::uint64_t{50}, std::uint64_t{1} << 30}) {
      task_runner run(threads);
      piece_queue queue(most);
      std::atomic<int> pieces{0};
      std::atomic<int> ends{0};
      std::vector<std::uint64_t> left = {0, 1, 7, 31, 32, 33, 100};
      for (std::uint64_t& bytes : left) {
        queue.add_sequence(bytes, [&queue, &bytes, &pieces, &ends]() -> std::uint64_t {
          if (bytes == 0) {
            queue.add_all(
                3, [&pieces](std::size_t) { ++pieces; }, [&ends] { ++ends; });
            return 0;
          }
          queue.add([&pieces] { ++pieces; }, 10);
          return bytes-- + 1;
        });
      }
      queue.run(run);
      EXPECT_EQ(pieces, 1 + 7 + 31 + 32 + 33 + 100 + 7 * 3);
      EXPECT_EQ(ends, 7);
    }
  }
}

TEST(piece_queue, advances_the_longest_sequence_first_and_limits_waiting_pieces) {
  task_runner run(1);
  piece_queue queue(15);
  std::string order;
  for (const char name : {'a', 'b', 'c'}) {
    queue.add_sequence(static_cast<std::uint64_t>(name - 'a' + 1),
                       [&queue, &order, name, steps = 0]() mutable -> std::uint64_t {
                         order += name;
                         queue.add([&order, name] { order += static_cast<char>(name - 'a' + 'A'); }, 10);
                         return ++steps < 2 ? 1 : 0;
                       });
  }
  queue.run(run);
  EXPECT_EQ(order, "ccCbCbBaBaAA");
}

TEST(piece_queue, an_exception_ends_the_run) {
  for (const unsigned threads : {1U, 4U}) {
    task_runner run(threads);
    piece_queue queue(1000);
    queue.add_sequence(1, [&queue]() -> std::uint64_t {
      queue.add([] { throw std::runtime_error("job"); }, 1);
      return 1;
    });
    EXPECT_THROW(queue.run(run), std::runtime_error);
  }
}

}  // namespace
}  // namespace gpulog::io
