#pragma once

#include <signal.h>

namespace gpulog {

/// During its lifetime, a file size limit (ulimit -f) fails the calls of this thread instead of killing the process.
class file_size_signal_block {
 public:
  file_size_signal_block();
  ~file_size_signal_block();
  file_size_signal_block(const file_size_signal_block&) = delete;
  file_size_signal_block& operator=(const file_size_signal_block&) = delete;

 private:
  sigset_t limit_{};
  sigset_t before_{};
};

}  // namespace gpulog
