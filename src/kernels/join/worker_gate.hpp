#pragma once

#include <cstdint>
#include <mutex>
#include <shared_mutex>

namespace gpulog::kernels {

/// Shared by workers while they access relations in tiles; held exclusively by a worker that enlarges a relation.
struct worker_gate {
  explicit worker_gate(unsigned number) : workers(number) {}
  std::shared_mutex mutex;
  unsigned workers;  ///< maximum number of workers inside

  /// Enlarges a relation while it has too little space. The calling worker holds the gate if more workers run;
  /// make_room() runs while no worker is inside.
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
