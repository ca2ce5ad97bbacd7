#pragma once

#include <boost/context/detail/fcontext.hpp>

#include <cstddef>
#include <vector>

#include "backend/gpu/emulated/sanitizer.hpp"

/// Fibers: stacks that a host thread switches between, so that a kernel's thread can wait in the middle of its work.
namespace gpulog::backend::gpu::emulated {

struct fiber {
  boost::context::detail::fcontext_t context = nullptr;  ///< where the fiber resumes
  std::byte* stack = nullptr;                            ///< lowest byte; nullptr for the host thread's regular stack
  std::size_t number = 0;
  // Bounds of the whole stack, for AddressSanitizer.
  const void* bottom = nullptr;
  std::size_t bytes = 0;
  void* fake_stack = nullptr;
};

/// Completes a switch. Every function started on a fiber must call this first.
inline void arrive(fiber& own, boost::context::detail::transfer_t from) {
  fiber& previous = *static_cast<fiber*>(from.data);
  previous.context = from.fctx;
#if defined(GPULOG_SANITIZED_ADDRESSES)
  __sanitizer_finish_switch_fiber(own.fake_stack, &previous.bottom, &previous.bytes);
#else
  static_cast<void>(own);
#endif
}

/// Resumes the fiber `to`. Returns when a fiber switches back.
inline void switch_fibers(fiber& own, fiber& to) {
#if defined(GPULOG_SANITIZED_ADDRESSES)
  __sanitizer_start_switch_fiber(&own.fake_stack, to.bottom, to.bytes);
#endif
  arrive(own, boost::context::detail::jump_fcontext(to.context, &own));
}

/// Fibers of one host thread.
class fiber_pool {
 public:
  using function = void (*)(boost::context::detail::transfer_t);

  /// @param runs the function of a fresh fiber; must not return
  explicit fiber_pool(function runs) : runs_(runs) {}
  ~fiber_pool();
  fiber_pool(const fiber_pool&) = delete;
  fiber_pool& operator=(const fiber_pool&) = delete;

  /// @return nullptr if the host has no memory for a new stack
  [[nodiscard]] fiber* take() {
    if (idle_.empty() && !make_some()) return nullptr;
    fiber* const taken = idle_.back();
    idle_.pop_back();
    return taken;
  }
  void give_back(fiber& idle) { idle_.push_back(&idle); }
  /// Makes all fibers idle and discards their state.
  void reset();

 private:
  [[nodiscard]] bool make_some();
  void begin_anew(fiber& made);

  function runs_;
  std::vector<void*> mappings_;
  std::vector<fiber*> all_;
  std::vector<fiber*> idle_;
};

/// An alternate signal stack for the calling thread, needed to handle a stack overflow.
class signal_stack {
 public:
  signal_stack();
  ~signal_stack();
  signal_stack(const signal_stack&) = delete;
  signal_stack& operator=(const signal_stack&) = delete;

 private:
  std::vector<std::byte> memory_;
};

}  // namespace gpulog::backend::gpu::emulated
