#include "backend/gpu/emulated/fibers.hpp"

#include <signal.h>
#include <sys/mman.h>

#include "backend/gpu/emulated/memory_access.hpp"

namespace gpulog::backend::gpu::emulated {

namespace {

/// Larger with AddressSanitizer, which puts space between variables.
constexpr std::size_t stack_bytes = (watches_addresses ? std::size_t{256} : std::size_t{64}) << 10;
constexpr std::size_t stack_distance = stack_bytes + page_bytes;  // with a guard page below each stack
constexpr std::size_t stacks_at_once = 32;

}  // namespace

fiber_pool::~fiber_pool() {
  for (void* const mapping : mappings_) {
    permit(mapping, stacks_at_once * stack_distance);
    ::munmap(mapping, stacks_at_once * stack_distance);
  }
  for (fiber* const made : all_) delete made;
}

bool fiber_pool::make_some() {
  constexpr std::size_t bytes = stacks_at_once * stack_distance;
  void* const mapping =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return false;
  mappings_.push_back(mapping);
  for (std::size_t s = 0; s < stacks_at_once; ++s) {
    std::byte* const guard = static_cast<std::byte*>(mapping) + s * stack_distance;
    ::mprotect(guard, page_bytes, PROT_NONE);
    auto* const made = new fiber;
    made->stack = guard + page_bytes;
    made->number = all_.size();
    made->bottom = made->stack;
    made->bytes = stack_bytes;
    begin_anew(*made);
    all_.push_back(made);
    idle_.push_back(made);
  }
  return true;
}

void fiber_pool::begin_anew(fiber& made) {
  // The start offsets differ: stacks that start at the same page offset would share few lines of the first-level cache.
  constexpr std::size_t line = 64;
  constexpr std::size_t colours = page_bytes / line;
  const std::size_t unused = made.number * 5 % colours * line;
  made.context = boost::context::detail::make_fcontext(made.stack + stack_bytes - unused, stack_bytes - unused, runs_);
  made.fake_stack = nullptr;
}

void fiber_pool::reset() {
  idle_.clear();
  for (fiber* const one : all_) {
    permit(one->stack, stack_bytes);
    begin_anew(*one);
    idle_.push_back(one);
  }
}

signal_stack::signal_stack() {
  // AddressSanitizer installs a signal stack itself.
  if constexpr (watches_addresses) return;
  stack_t known{};
  if (::sigaltstack(nullptr, &known) != 0 || (known.ss_flags & SS_DISABLE) == 0) return;
  constexpr std::size_t bytes = std::size_t{32} << 10;
  memory_.resize(bytes);
  stack_t own{};
  own.ss_sp = memory_.data();
  own.ss_size = memory_.size();
  ::sigaltstack(&own, nullptr);
}

signal_stack::~signal_stack() {
  if (memory_.empty()) return;
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  ::sigaltstack(&none, nullptr);
}

}  // namespace gpulog::backend::gpu::emulated
