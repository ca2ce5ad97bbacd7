#include "io/piece_queue.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

namespace gpulog::io {

void piece_queue::add_sequence(std::uint64_t bytes, sequence step) {
  unopened_.push_back({bytes, std::move(step)});
  std::push_heap(unopened_.begin(), unopened_.end(), has_fewer_bytes);
}

void piece_queue::add(job work, std::uint64_t bytes) {
  const std::lock_guard lock(access_);
  jobs_.push_back({std::move(work), bytes});
  waiting_ += bytes;
  changed_.notify_one();
}

void piece_queue::add_all(std::size_t count, const std::function<void(std::size_t)>& work, const job& then) {
  if (count == 0) return then();
  const auto left = std::make_shared<std::atomic<std::size_t>>(count);
  for (std::size_t number = 0; number < count; ++number) {
    add([left, work, then, number] {
      work(number);
      if (--*left == 0) then();
    });
  }
}

void piece_queue::run(task_runner& threads) {
  threads(threads.threads(), [this](std::size_t) { work(); });
}

void piece_queue::work() {
  std::unique_lock lock(access_);
  try {
    while (!is_abandoned_) {
      if (can_advance()) {
        advance(lock);
      } else if (!jobs_.empty()) {
        run_job(lock);
      } else if (running_ > 0) {
        changed_.wait(lock);
      } else {
        break;
      }
    }
    changed_.notify_all();
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    is_abandoned_ = true;
    changed_.notify_all();
    throw;
  }
}

bool piece_queue::can_advance() const { return waiting_ < most_waiting_ && !(opened_.empty() && unopened_.empty()); }

/// Wakes another thread for the remaining work.
void piece_queue::begin_work(std::unique_lock<std::mutex>& lock) {
  ++running_;
  if (can_advance() || !jobs_.empty()) changed_.notify_one();
  lock.unlock();
}

void piece_queue::advance(std::unique_lock<std::mutex>& lock) {
  std::vector<reading>& from = opened_.empty() ? unopened_ : opened_;
  std::pop_heap(from.begin(), from.end(), has_fewer_bytes);
  reading next = std::move(from.back());
  from.pop_back();
  begin_work(lock);
  next.bytes = next.step();
  lock.lock();
  --running_;
  if (next.bytes == 0) return;
  opened_.push_back(std::move(next));
  std::push_heap(opened_.begin(), opened_.end(), has_fewer_bytes);
}

void piece_queue::run_job(std::unique_lock<std::mutex>& lock) {
  std::uint64_t bytes = 0;
  {
    const waiting_job next = std::move(jobs_.front());
    jobs_.pop_front();
    begin_work(lock);
    next.work();
    bytes = next.bytes;
  }
  lock.lock();
  --running_;
  waiting_ -= bytes;
}

}  // namespace gpulog::io
