#include <dlfcn.h>
#include <fcntl.h>

#include <cerrno>

/// System calls that emscripten lacks: a WebAssembly module loads no libraries and reserves no space of a disk.
extern "C" {

void* dlopen(const char* /*file*/, int /*flags*/) { return nullptr; }
void* dlsym(void* /*library*/, const char* /*name*/) { return nullptr; }
int dlclose(void* /*library*/) { return 0; }
int dlinfo(void* /*library*/, int /*request*/, void* /*answer*/) { return -1; }
int dladdr(const void* /*address*/, Dl_info* /*found*/) { return 0; }

int fallocate(int /*file*/, int /*mode*/, off_t /*offset*/, off_t /*bytes*/) {
  errno = ENOTSUP;
  return -1;
}
}
