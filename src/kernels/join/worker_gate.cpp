#include "kernels/join/worker_gate.hpp"

#include <algorithm>
#include <utility>

namespace gpulog::kernels {

void worker_gate::wait_to_enter() {
  leave();
  lock held(mutex_);
  while ((state_.load(std::memory_order_relaxed) & closed) != 0) help(held);
  state_.fetch_add(1, std::memory_order_acquire);  // only workers that hold the mutex close the gate
}

void worker_gate::note_last() {
  const lock held(mutex_);
  changed_.notify_all();
}

void worker_gate::run_alone(std::function<void()> action) {
  request own{std::move(action), false, nullptr};
  lock held(mutex_);
  requests_.push_back(&own);
  state_.fetch_or(closed, std::memory_order_relaxed);
  state_.fetch_sub(1, std::memory_order_release);
  while (!own.is_done) {
    if (state_.load(std::memory_order_acquire) == closed && !is_alone_) {
      run_requests(held);
    } else {
      help(held);
    }
  }
  if (own.fault) std::rethrow_exception(own.fault);
}

void worker_gate::run_requests(lock& held) {
  is_alone_ = true;
  const std::vector<request*> all = std::exchange(requests_, {});
  held.unlock();
  for (request* const one : all) {
    try {
      one->action();
    } catch (...) {
      one->fault = std::current_exception();
    }
  }
  held.lock();
  for (request* const one : all) one->is_done = true;
  is_alone_ = false;
  // Counts the workers as inside before a further worker can close the gate.
  state_.fetch_add(static_cast<std::uint32_t>(all.size()), std::memory_order_relaxed);
  state_.fetch_and(~closed, std::memory_order_release);
  changed_.notify_all();
}

void worker_gate::run_pieces(std::uint64_t count, const piece_action& action) {
  lock held(mutex_);
  pieces_ = {&action, 0, count, 0, nullptr};
  for (std::uint64_t woken = 1; woken < std::min<std::uint64_t>(count, workers_); ++woken) changed_.notify_one();
  while (pieces_.next < pieces_.count) run_next_piece(held);
  while (pieces_.running != 0) changed_.wait(held);
  const std::exception_ptr fault = std::exchange(pieces_, {}).fault;
  if (fault) std::rethrow_exception(fault);
}

void worker_gate::run_next_piece(lock& held) {
  const std::uint64_t piece = pieces_.next++;
  ++pieces_.running;
  held.unlock();
  std::exception_ptr fault;
  try {
    (*pieces_.action)(piece);
  } catch (...) {
    fault = std::current_exception();
  }
  held.lock();
  if (fault) pieces_.fault = fault;
  if (--pieces_.running == 0 && pieces_.next == pieces_.count) changed_.notify_all();
}

void worker_gate::help(lock& held) {
  if (pieces_.next < pieces_.count) {
    run_next_piece(held);
  } else {
    changed_.wait(held);
  }
}

}  // namespace gpulog::kernels
