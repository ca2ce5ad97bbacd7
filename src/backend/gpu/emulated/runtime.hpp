#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backend/gpu/emulated/guarded_memory.hpp"
#include "backend/gpu/vendor.hpp"

/// The streams of the emulated device. Work stays in the queue until the host synchronizes, so host code that reads a
/// result too early reads the old value.
namespace gpulog::backend::gpu::emulated {

/// State that outlives an event destroyed while still queued.
struct event_state {
  stream* recorded_in = nullptr;
  std::uint64_t recorded = 0;  ///< number of times the event was recorded
  std::uint64_t happened = 0;  ///< number of the last completed record
  std::chrono::steady_clock::time_point when;
};

class event {
 public:
  std::shared_ptr<event_state> state = std::make_shared<event_state>();
};

/// An item in a stream's queue.
struct work {
  enum class kind : std::uint8_t { call, records, waits };
  kind what = kind::call;
  const char* name = "";
  std::function<void()> call;
  std::shared_ptr<event_state> event;
  std::uint64_t number = 0;  ///< which record of the event
  stream* recorded_in = nullptr;
  bool is_kernel = false;
};

class stream {
 public:
  std::deque<work> queue;
};

/// The single device. Thread-safe.
class runtime {
 public:
  static runtime& instance();

  void* allocate(std::uint64_t bytes);
  void deallocate(void* memory) noexcept;
  void* allocate_pinned(std::uint64_t bytes);
  void deallocate_pinned(void* memory) noexcept;
  [[nodiscard]] memory_use memory();

  stream* make_stream();
  void destroy(stream* in) noexcept;
  void put(stream* in, work item);
  void copy(void* to, const void* from, std::uint64_t bytes, direction way, stream* in, call_site site);
  void fill(void* memory, int byte, std::uint64_t bytes, stream* in, call_site site);

  void wait(stream* in);
  void wait_quietly(stream* in) noexcept;
  void wait_for_all();
  void record(const event& recorded, stream* in);
  void make_wait(stream* in, const event& awaited);
  void wait(const event& awaited);
  [[nodiscard]] double seconds_between(const event& begin, const event& end, call_site site);

 private:
  class opened_memory;

  runtime();
  [[nodiscard]] stream& known(stream* in) { return in == nullptr ? default_stream_ : *in; }
  /// Runs a stream up to a record of an event, or to the end of the queue.
  void advance(stream& in, const event_state* until, std::uint64_t number);
  void advance_all();
  void run(work& item);
  void give_up(const std::string& error);
  /// Runs or skips work of unrelated streams, as the seed decides: a device may do either.
  void run_others_by_chance();
  void reclaim();
  [[nodiscard]] bool has_work() const;
  [[nodiscard]] bool is_pinned(const void* memory, std::uint64_t bytes) const;
  void throw_error();

  std::mutex access_;
  guarded_memory memory_;
  stream default_stream_;
  std::vector<stream*> streams_;
  std::map<const std::byte*, std::uint64_t> pinned_;  // size in bytes
  std::vector<void*> retired_pinned_;
  std::string error_;  // the first error, until reported to a caller
};

}  // namespace gpulog::backend::gpu::emulated
