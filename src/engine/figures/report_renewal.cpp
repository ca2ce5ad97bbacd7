#include "engine/figures/report_renewal.hpp"

#include "engine/engine_state.hpp"
#include "io/files/output_files.hpp"
#include "support/error.hpp"

namespace gpulog::detail {

report_renewal::report_renewal(engine_state& run, double seconds) : run_(run), interval_(seconds) {
  for (const std::string& path : run.options.report_files) {
    if (!io::is_written_in_place(path)) paths_.push_back(path);
  }
  thread_ = std::jthread([this](const std::stop_token& cancelled) { this->run(cancelled); });
}

void report_renewal::run(const std::stop_token& cancelled) {
  std::unique_lock lock(guard_);
  while (!cancelled.stop_requested()) {
    changed_.wait_for(lock, cancelled, interval_, [] { return false; });
    if (!cancelled.stop_requested()) renew();
  }
}

/// Ignores write errors: the next renewal may succeed, and the end of the run reports errors.
void report_renewal::renew() {
  const std::lock_guard renewing(run_.renewal_guard);
  if (run_.is_reported) return;
  statistics seen;
  if (!run_.monitor.look(std::chrono::seconds(1), [&] { seen = run_.snapshot(true); })) return;
  const std::string text = to_json(seen);
  try {
    for (const std::string& path : paths_) {
      io::output_file file(path);
      file.write(text);
      file.close();
      file.rename();
    }
  } catch (const user_error&) {
  }
}

}  // namespace gpulog::detail
