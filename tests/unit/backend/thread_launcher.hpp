#pragma once

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "backend/cpu/cpu_backend.hpp"

namespace gpulog::backend::cpu {

/// Runs blocks on separate threads: the requested number on any machine, and, unlike oneTBB's, threads that
/// ThreadSanitizer understands.
class thread_launcher {
 public:
  explicit thread_launcher(unsigned threads = 3) : threads_(threads) {}
  [[nodiscard]] unsigned workers() const { return threads_; }

  template <class Function>
  void run(std::uint64_t blocks, Function&& function, unsigned most_workers = UINT_MAX) {
    if (blocks <= 1 || threads_ == 1 || most_workers == 1 || inside_) {
      for (std::uint64_t block = 0; block < blocks; ++block) function(0U, block);
      return;
    }
    std::atomic<std::uint64_t> next = 0;
    std::exception_ptr fault;
    std::mutex fault_mutex;
    std::vector<std::thread> running;
    for (unsigned worker = 0; worker < std::min(threads_, most_workers); ++worker) {
      running.emplace_back([&, worker] {
        inside_ = true;
        try {
          for (std::uint64_t block = next++; block < blocks; block = next++) function(worker, block);
        } catch (...) {
          const std::lock_guard<std::mutex> held(fault_mutex);
          fault = std::current_exception();
          next = blocks;
        }
      });
    }
    for (std::thread& thread : running) thread.join();
    if (fault) std::rethrow_exception(fault);
  }

 private:
  static inline thread_local bool inside_ = false;
  unsigned threads_;
};

using thread_backend = cpu_backend<thread_launcher>;
static_assert(execution_backend<thread_backend>);

}  // namespace gpulog::backend::cpu
