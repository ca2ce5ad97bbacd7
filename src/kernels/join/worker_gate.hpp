#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

#include "backend/piece_runner.hpp"

namespace gpulog::kernels {

/// The gate of the workers of a run. Workers are inside while they access relations. A worker without room in a
/// relation waits until each other worker is outside or waits. Then one worker enlarges the relations, and waiting
/// workers help.
class worker_gate {
 public:
  /// @param workers maximum number of workers inside
  explicit worker_gate(unsigned workers) : workers_(workers) {}
  worker_gate(const worker_gate&) = delete;
  worker_gate& operator=(const worker_gate&) = delete;

  [[nodiscard]] unsigned workers() const { return workers_; }
  /// Returns whether no worker is inside or waits.
  [[nodiscard]] bool is_empty() const { return state_.load(std::memory_order_relaxed) == 0; }

  /// Keeps a worker inside.
  class visit {
   public:
    /// @param gate nullptr: no other worker runs
    explicit visit(worker_gate* gate) : gate_(gate) {
      if (gate_ != nullptr) gate_->enter();
    }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;
    ~visit() {
      if (gate_ != nullptr) gate_->leave();
    }

   private:
    worker_gate* gate_;
  };

  /// Enlarges a relation while the relation has too little space: a single worker calls make_room(room). Otherwise the
  /// calling worker must be inside, and a worker calls make_room(room, helpers) while no worker accesses relations.
  template <class Access, class Relation, class MakeRoom>
  void require_room(const Relation& target, std::uint64_t room, const MakeRoom& make_room) {
    while (!target.has_room(room)) {
      if constexpr (Access::is_concurrent) {
        run_alone([&] {
          if (!target.has_room(room)) make_room(room, backend::piece_runner(*this));
        });
      } else {
        make_room(room);
      }
    }
  }

  /// Calls function(0, begin, end) for tiles of [0, n) on the calling worker, which runs alone, and on waiting workers.
  /// @throws the exceptions of the function
  template <class Function>
  void for_each_tile(std::uint64_t n, std::uint64_t tile, const Function& function) {
    run_pieces((n + tile - 1) / tile,
               [&](std::uint64_t piece) { function(0U, piece * tile, std::min(n, (piece + 1) * tile)); });
  }

 private:
  using piece_action = backend::piece_runner::piece_action;
  struct request {
    std::function<void()> action;
    bool is_done = false;
    std::exception_ptr fault;
  };
  struct shared_pieces {
    const piece_action* action = nullptr;
    std::uint64_t next = 0;
    std::uint64_t count = 0;
    std::uint64_t running = 0;
    std::exception_ptr fault;
  };
  using lock = std::unique_lock<std::mutex>;

  void enter() {
    if ((state_.fetch_add(1, std::memory_order_acquire) & closed) != 0) wait_to_enter();
  }
  void leave() {
    if (state_.fetch_sub(1, std::memory_order_release) == (closed | 1)) note_last();
  }
  void wait_to_enter();
  void note_last();
  /// Calls the action while no worker accesses relations. @throws the exceptions of the action
  void run_alone(std::function<void()> action);
  void run_requests(lock& held);
  void run_pieces(std::uint64_t count, const piece_action& action);
  void run_next_piece(lock& held);
  /// Runs a waiting piece, or waits for a change.
  void help(lock& held);

  unsigned workers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  static constexpr std::uint32_t closed = 1U << 31;
  alignas(64) std::atomic<std::uint32_t> state_ = 0;  ///< number of workers inside; `closed` while workers need room
  bool is_alone_ = false;
  std::vector<request*> requests_;
  shared_pieces pieces_;
};

}  // namespace gpulog::kernels
