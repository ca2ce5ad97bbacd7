#include "runs.hpp"

#include <nanobind/nanobind.h>
#include <unistd.h>

#include <mutex>
#include <set>
#include <thread>

namespace gpulog_python {
namespace {

struct list_of_runs {
  std::mutex access;
  std::set<std::atomic<bool>*> all;
};

list_of_runs& runs() {
  static list_of_runs only;
  return only;
}

/// @return whether no run is active
bool cancel_all() {
  const std::lock_guard lock(runs().access);
  for (std::atomic<bool>* const one : runs().all) *one = true;
  return runs().all.empty();
}

}  // namespace

going_on::going_on(std::atomic<bool>& cancelled) : cancelled_(&cancelled) {
  const std::lock_guard lock(runs().access);
  runs().all.insert(cancelled_);
}

going_on::~going_on() {
  const std::lock_guard lock(runs().access);
  runs().all.erase(cancelled_);
}

void end_all_runs() {
  const nanobind::gil_scoped_release free;
  for (int looks = 0; looks < 200 && !cancel_all(); ++looks) std::this_thread::sleep_for(between_looks);
}

unsigned jobs_here(unsigned wanted) {
  static std::atomic<pid_t> process_of_workers = 0;
  if (wanted == 1) return 1;
  pid_t none = 0;
  const pid_t own = getpid();
  if (process_of_workers.compare_exchange_strong(none, own)) return wanted;
  return process_of_workers == own ? wanted : 1;
}

}  // namespace gpulog_python
