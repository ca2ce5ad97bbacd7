#include "support/deep_stack.hpp"

#include <pthread.h>

#include <cstddef>
#include <exception>

namespace gpulog {

namespace {

#if defined(GPULOG_SANITIZED)
constexpr std::size_t deep_stack_bytes = std::size_t{1} << 33;  // instrumented frames are larger
#else
constexpr std::size_t deep_stack_bytes = std::size_t{1} << 30;
#endif

thread_local bool is_on_deep_stack = false;

struct deep_call {
  const std::function<void()>& action;
  std::exception_ptr failure;
};

void* run_deep_call(void* given) {
  auto& call = *static_cast<deep_call*>(given);
  is_on_deep_stack = true;
  try {
    call.action();
  } catch (...) {
    call.failure = std::current_exception();
  }
  return nullptr;
}

}  // namespace

bool on_deep_stack(const std::function<void()>& action) {
  if (is_on_deep_stack) {
    action();
    return true;
  }
  deep_call call{action, {}};
  pthread_t thread{};
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  const bool is_started = pthread_attr_setstacksize(&attributes, deep_stack_bytes) == 0 &&
                          pthread_create(&thread, &attributes, run_deep_call, &call) == 0;
  pthread_attr_destroy(&attributes);
  if (!is_started) return false;
  pthread_join(thread, nullptr);
  if (call.failure) std::rethrow_exception(call.failure);
  return true;
}

}  // namespace gpulog
