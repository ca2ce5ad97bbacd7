#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace gpulog::io {

/// Runs numbered tasks on a fixed number of threads, including the caller. Tasks start in the order of their numbers,
/// so that consumers of the first results can start early.
class task_runner {
 public:
  explicit task_runner(unsigned threads);
  ~task_runner();
  task_runner(const task_runner&) = delete;
  task_runner& operator=(const task_runner&) = delete;

  /// Runs work(0) .. work(count-1) and returns when all are done. Rethrows an exception of a piece.
  void operator()(std::size_t count, const std::function<void(std::size_t)>& work);
  [[nodiscard]] unsigned threads() const { return threads_; }

 private:
  struct arena;
  unsigned threads_;
  std::unique_ptr<arena> arena_;
};

}  // namespace gpulog::io
