#include "backend/gpu/emulated/memory_access.hpp"

#include <sys/mman.h>

#include <cstdlib>

namespace gpulog::backend::gpu::emulated {

namespace {

int memory_key() {
  static const int key = [] {
    // Lets tests disable keys on processors that have keys.
    if (std::getenv("GPULOG_EMULATED_NO_KEYS") != nullptr) return -1;
    return ::pkey_alloc(0, PKEY_DISABLE_ACCESS);
  }();
  return key;
}

thread_local unsigned accesses = 0;  // nested accesses of the calling thread

}  // namespace

bool has_memory_key() { return memory_key() >= 0; }

bool reach_with_key(void* memory, std::uint64_t bytes) {
  return ::pkey_mprotect(memory, bytes, PROT_READ | PROT_WRITE, memory_key()) == 0;
}

memory_access::memory_access() {
  if (accesses++ == 0 && has_memory_key()) ::pkey_set(memory_key(), 0);
}

memory_access::~memory_access() {
  // Also revokes access that this thread inherited from a parent thread with access.
  if (--accesses == 0 && has_memory_key()) ::pkey_set(memory_key(), PKEY_DISABLE_ACCESS);
}

}  // namespace gpulog::backend::gpu::emulated
