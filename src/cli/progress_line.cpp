#include "cli/progress_line.hpp"

#include <unistd.h>

#include "cli/messages.hpp"

namespace gpulog::cli {

bool progress_line::wanted() { return isatty(STDERR_FILENO) == 1; }

void progress_line::show(const progress& now) {
  constexpr auto interval = std::chrono::milliseconds(100);
  const auto time = std::chrono::steady_clock::now();
  if (time - last_ < interval) return;
  last_ = time;
  visible_ = true;
  const double rate = now.seconds > 0 ? static_cast<double>(now.tuples) / now.seconds : 0;
  print_message("\r\033[Kstratum {}/{} on {}  iteration {}  {} tuples  {:.2f} M/s", now.stratum + 1, now.stratum_count,
                now.backend, now.iteration, now.tuples, rate / 1e6);
}

void progress_line::clear() {
  if (!visible_) return;
  print_message("\r\033[K");
  visible_ = false;
}

}  // namespace gpulog::cli
