#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "io/task_runner.hpp"

namespace gpulog::io {

/// The work of reading files on several threads: sequences, which produce pieces of text in order (decompression is
/// sequential within a file), and jobs, which parse pieces. Threads advance sequences until the waiting pieces reach a
/// limit, then run jobs. The sequence with the most remaining bytes is advanced first, because the longest one decides
/// when all are done.
class piece_queue {
 public:
  using job = std::function<void()>;
  /// Does the next step, and returns the remaining bytes, approximately; 0: the sequence has ended.
  using sequence = std::function<std::uint64_t()>;

  /// @param most_waiting no sequence advances while pieces with so many bytes wait
  explicit piece_queue(std::uint64_t most_waiting) : most_waiting_(most_waiting) {}

  /// Adds a sequence, before run(). Each thread advances at most one sequence at a time, and new sequences begin only
  /// while all others are being advanced, so at most as many files are open as there are threads.
  void add_sequence(std::uint64_t bytes, sequence step);
  /// Adds a job; thread-safe. @param bytes that wait until the job is done
  void add(job work, std::uint64_t bytes = 0);
  /// Adds work(0) .. work(count - 1); the thread that ends the last one calls then().
  void add_all(std::size_t count, const std::function<void(std::size_t)>& work, const job& then);
  /// Runs everything, also what sequences and jobs add. Rethrows an exception of a sequence or job.
  void run(task_runner& threads);

 private:
  struct reading {
    std::uint64_t bytes;
    sequence step;
  };
  struct waiting_job {
    job work;
    std::uint64_t bytes;
  };

  void work();
  [[nodiscard]] bool can_advance() const;
  void begin_work(std::unique_lock<std::mutex>& lock);
  void advance(std::unique_lock<std::mutex>& lock);
  void run_job(std::unique_lock<std::mutex>& lock);
  static bool has_fewer_bytes(const reading& a, const reading& b) { return a.bytes < b.bytes; }

  std::uint64_t most_waiting_;
  std::mutex access_;
  std::condition_variable changed_;
  std::vector<reading> unopened_;  ///< heap: the largest first
  std::vector<reading> opened_;    ///< heap of sequences that no thread is advancing
  std::deque<waiting_job> jobs_;
  std::uint64_t waiting_ = 0;  ///< bytes of jobs that have not ended
  std::size_t running_ = 0;    ///< steps and jobs
  bool is_abandoned_ = false;
};

}  // namespace gpulog::io
