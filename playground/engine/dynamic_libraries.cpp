#include <dlfcn.h>

/// A WebAssembly module loads no libraries: each attempt fails with a message.
extern "C" {

void* dlopen(const char* /*file*/, int /*flags*/) { return nullptr; }
void* dlsym(void* /*library*/, const char* /*name*/) { return nullptr; }
int dlclose(void* /*library*/) { return 0; }
char* dlerror() {
  static char message[] = "WebAssembly loads no libraries";
  return message;
}
int dladdr(const void* /*address*/, Dl_info* /*found*/) { return 0; }
}
