#pragma once

#include <algorithm>
#include <atomic>
#include <climits>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
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

  /// As tbb_launcher::task_pool.
  class task_pool {
   public:
    task_pool(const thread_launcher& launcher, unsigned most_workers)
        : threads_(std::min(launcher.threads_, most_workers)) {}

    template <class Action>
    void run(const Action& action) {
      add(action);
      std::vector<std::thread> running;
      for (unsigned worker = 0; worker < threads_; ++worker) {
        running.emplace_back([this, worker] {
          inside_ = true;
          work(worker);
        });
      }
      for (std::thread& thread : running) thread.join();
      if (fault_) std::rethrow_exception(fault_);
    }
    template <class Action>
    void add(Action action) {
      const std::lock_guard<std::mutex> held(mutex_);
      waiting_.push_back(std::move(action));
      changed_.notify_one();
    }

   private:
    void work(unsigned worker) {
      std::unique_lock<std::mutex> held(mutex_);
      while (true) {
        changed_.wait(held, [this] { return !waiting_.empty() || running_ == 0; });
        if (waiting_.empty()) return;
        std::function<void(unsigned)> action = std::move(waiting_.back());
        waiting_.pop_back();
        ++running_;
        held.unlock();
        std::exception_ptr fault;
        try {
          action(worker);
        } catch (...) {
          fault = std::current_exception();
        }
        action = nullptr;
        held.lock();
        if (fault) {
          fault_ = fault;
          waiting_.clear();
        }
        if (--running_ == 0) changed_.notify_all();
      }
    }

    unsigned threads_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::function<void(unsigned)>> waiting_;
    unsigned running_ = 0;
    std::exception_ptr fault_;
  };

 private:
  static inline thread_local bool inside_ = false;
  unsigned threads_;
};

using thread_backend = cpu_backend<thread_launcher>;
static_assert(execution_backend<thread_backend>);

}  // namespace gpulog::backend::cpu
