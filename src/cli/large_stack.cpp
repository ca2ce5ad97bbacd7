#include "cli/large_stack.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include <cstddef>

namespace gpulog::cli {
namespace {

constexpr std::size_t stack_bytes = std::size_t{8} << 20;

struct call {
  const std::function<int()>* action;
  int status;
};

void* run(void* given) {
  auto* const own = static_cast<call*>(given);
  own->status = (*own->action)();
  return nullptr;
}

}  // namespace

int on_large_stack(const std::function<int()>& action) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= stack_bytes) return action();
  call own{&action, 1};
  pthread_t thread{};
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return action();
  const bool is_made = pthread_attr_setstacksize(&attributes, stack_bytes) == 0 &&
                       pthread_setattr_default_np(&attributes) == 0 &&
                       pthread_create(&thread, &attributes, run, &own) == 0;
  pthread_attr_destroy(&attributes);
  if (!is_made) return action();
  // Only the new thread and its children receive signals.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  pthread_join(thread, nullptr);
  return own.status;
}

}  // namespace gpulog::cli
