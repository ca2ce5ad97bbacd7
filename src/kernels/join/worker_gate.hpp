#pragma once

#include <cstdint>
#include <mutex>
#include <shared_mutex>

namespace gpulog::kernels {

/// Workers that run tiles beside each other share it while they touch relations, and one has it while it makes room.
struct worker_gate {
  explicit worker_gate(unsigned number) : workers(number) {}
  std::shared_mutex mutex;
  unsigned workers;  ///< that may be inside

  /// For a worker that holds it, if others are there: while there is too little room, make_room() with all of them
  /// elsewhere.
  template <class Access, class Relation, class MakeRoom>
  void require_room(const Relation& target, std::uint64_t room, const MakeRoom& make_room) {
    while (!target.has_room(room)) {
      if constexpr (Access::is_concurrent) mutex.unlock_shared();
      try {
        std::unique_lock<std::shared_mutex> everybody_else_waits(mutex, std::defer_lock);
        if constexpr (Access::is_concurrent) everybody_else_waits.lock();
        if (!target.has_room(room)) make_room(room);
      } catch (...) {
        if constexpr (Access::is_concurrent) mutex.lock_shared();
        throw;
      }
      if constexpr (Access::is_concurrent) mutex.lock_shared();
    }
  }
};

}  // namespace gpulog::kernels
