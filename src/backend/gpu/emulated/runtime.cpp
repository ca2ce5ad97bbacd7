#include "backend/gpu/emulated/runtime.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iterator>
#include <utility>

#include "backend/gpu/emulated/memory_access.hpp"
#include "backend/gpu/emulated/sanitizer.hpp"
#include "backend/gpu/emulated/settings.hpp"

namespace gpulog::backend::gpu::emulated {

/// Grants host code access to device memory during the lifetime of this object.
class runtime::opened_memory {
 public:
  explicit opened_memory(guarded_memory& memory) : memory_(memory) { memory_.open(); }
  ~opened_memory() { memory_.close(); }
  opened_memory(const opened_memory&) = delete;
  opened_memory& operator=(const opened_memory&) = delete;

 private:
  guarded_memory& memory_;
};

runtime& runtime::instance() {
  // Never destroyed: objects with static lifetime may still use the runtime.
  static runtime& one = *new runtime;
  return one;
}

runtime::runtime() : memory_(memory_bytes()) { streams_.push_back(&default_stream_); }

// --- memory

bool runtime::has_work() const {
  return std::any_of(streams_.begin(), streams_.end(), [](const stream* one) { return !one->queue.empty(); });
}

void* runtime::allocate(std::uint64_t bytes) {
  const std::lock_guard lock(access_);
  throw_error();
  return memory_.allocate(bytes);
}

void runtime::deallocate(void* memory) noexcept {
  if (memory == nullptr) return;
  const std::lock_guard lock(access_);
  if (!memory_.retire(memory)) {
    std::fprintf(stderr, "gpulog: %p is freed, which is no memory of the emulated device\n", memory);
    std::abort();
  }
  // Kernels that have not run yet may use the memory; a device, too, waits before freeing.
  if (has_work()) return;
  const opened_memory open(memory_);
  reclaim();
}

void runtime::reclaim() {
  const std::string damage = memory_.reclaim();
  if (error_.empty() && !damage.empty()) error_ = damage + ": found when it was freed";
  for (void* const memory : retired_pinned_) std::free(memory);
  retired_pinned_.clear();
}

memory_use runtime::memory() {
  const std::lock_guard lock(access_);
  return {memory_.limit() - memory_.used(), memory_.limit()};
}

void* runtime::allocate_pinned(std::uint64_t bytes) {
  constexpr std::size_t most_filled = std::size_t{64} << 10;
  if (bytes == 0) return nullptr;
  const std::size_t rounded = (bytes + page_bytes - 1) / page_bytes * page_bytes;
  void* const memory = std::aligned_alloc(page_bytes, rounded);
  if (memory == nullptr) throw device_error("emulated device: the host has not enough memory");
  std::memset(memory, fresh_byte, std::min(rounded, most_filled));
  forbid(static_cast<std::byte*>(memory) + bytes, rounded - bytes);
  const std::lock_guard lock(access_);
  pinned_.emplace(static_cast<const std::byte*>(memory), bytes);
  return memory;
}

void runtime::deallocate_pinned(void* memory) noexcept {
  if (memory == nullptr) return;
  const std::lock_guard lock(access_);
  if (pinned_.erase(static_cast<const std::byte*>(memory)) == 0) {
    std::fprintf(stderr, "gpulog: %p is freed, which is no pinned memory\n", memory);
    std::abort();
  }
  if (has_work()) {
    retired_pinned_.push_back(memory);
  } else {
    std::free(memory);
  }
}

bool runtime::is_pinned(const void* memory, std::uint64_t bytes) const {
  const auto* const begin = static_cast<const std::byte*>(memory);
  const auto behind = pinned_.upper_bound(begin);
  if (behind == pinned_.begin()) return false;
  const auto& [first, all] = *std::prev(behind);
  return begin + bytes <= first + all;
}

// --- what is put into streams

stream* runtime::make_stream() {
  auto made = std::make_unique<stream>();
  const std::lock_guard lock(access_);
  streams_.push_back(made.get());
  return made.release();
}

void runtime::destroy(stream* in) noexcept {
  if (in == nullptr) return;
  wait_quietly(in);
  const std::lock_guard lock(access_);
  streams_.erase(std::remove(streams_.begin(), streams_.end(), in), streams_.end());
  delete in;
}

void runtime::put(stream* in, work item) {
  const std::lock_guard lock(access_);
  throw_error();
  known(in).queue.push_back(std::move(item));
}

void runtime::record(const event& recorded, stream* in) {
  const std::lock_guard lock(access_);
  event_state& state = *recorded.state;
  state.recorded_in = &known(in);
  work item;
  item.what = work::kind::records;
  item.event = recorded.state;
  item.number = ++state.recorded;
  known(in).queue.push_back(std::move(item));
}

void runtime::make_wait(stream* in, const event& awaited) {
  const std::lock_guard lock(access_);
  const event_state& state = *awaited.state;
  if (state.happened >= state.recorded) return;
  work item;
  item.what = work::kind::waits;
  item.event = awaited.state;
  item.number = state.recorded;
  item.recorded_in = state.recorded_in;
  known(in).queue.push_back(std::move(item));
}

// --- what runs them

void runtime::advance(stream& in, const event_state* until, std::uint64_t number) {
  while (!in.queue.empty() && (until == nullptr || until->happened < number)) {
    work item = std::move(in.queue.front());
    in.queue.pop_front();
    switch (item.what) {
      case work::kind::call:
        run(item);
        break;
      case work::kind::records:
        item.event->happened = std::max(item.event->happened, item.number);
        item.event->when = std::chrono::steady_clock::now();
        break;
      case work::kind::waits:
        // The event was recorded before the wait was enqueued, so the recording stream cannot depend on this stream.
        if (item.event->happened < item.number) advance(*item.recorded_in, item.event.get(), item.number);
        break;
    }
  }
}

void runtime::run(work& item) {
  try {
    item.call();
    if (!item.is_kernel) return;
    const std::string damage = memory_.find_damage();
    if (!damage.empty()) give_up(std::string("emulated device: kernel ") + item.name + ": " + damage);
  } catch (const device_error& thrown) {
    give_up(std::string("emulated device: ") + thrown.what());
  } catch (const std::exception& thrown) {
    give_up(std::string("emulated device: ") + item.name + ": " + thrown.what());
  }
}

/// As on a device, no work runs after an error.
void runtime::give_up(const std::string& error) {
  if (error_.empty()) error_ = error;
  for (stream* const one : streams_) {
    for (const work& item : one->queue) {
      if (item.what == work::kind::records) item.event->happened = std::max(item.event->happened, item.number);
    }
    one->queue.clear();
  }
}

void runtime::advance_all() {
  for (stream* const one : streams_) advance(*one, nullptr, 0);
}

void runtime::run_others_by_chance() {
  if (by_chance()) advance_all();
}

void runtime::throw_error() {
  if (!error_.empty()) throw device_error(std::exchange(error_, {}));
}

void runtime::wait(stream* in) {
  const std::lock_guard lock(access_);
  if (has_work()) {
    const opened_memory open(memory_);
    run_others_by_chance();
    advance(known(in), nullptr, 0);
    if (!has_work()) reclaim();
  }
  throw_error();
}

void runtime::wait_quietly(stream* in) noexcept {
  try {
    wait(in);
  } catch (const std::exception& thrown) {
    std::fprintf(stderr, "gpulog: %s\n", thrown.what());
    const std::lock_guard lock(access_);
    error_ = thrown.what();
  }
}

void runtime::wait_for_all() {
  const std::lock_guard lock(access_);
  if (has_work()) {
    const opened_memory open(memory_);
    advance_all();
    reclaim();
  }
  throw_error();
}

void runtime::wait(const event& awaited) {
  const std::lock_guard lock(access_);
  const event_state& state = *awaited.state;
  if (state.happened < state.recorded) {
    const opened_memory open(memory_);
    run_others_by_chance();
    if (state.happened < state.recorded) advance(*state.recorded_in, &state, state.recorded);
    if (!has_work()) reclaim();
  }
  throw_error();
}

double runtime::seconds_between(const event& begin, const event& end, call_site site) {
  wait(begin);
  wait(end);
  if (begin.state->recorded == 0 || end.state->recorded == 0) {
    throw device_error(std::string("emulated device: an event that was never recorded, at ") + site.file + ":" +
                       std::to_string(site.line));
  }
  return std::chrono::duration<double>(end.state->when - begin.state->when).count();
}

// --- copies

void runtime::copy(void* to, const void* from, std::uint64_t bytes, direction way, stream* in, call_site site) {
  if (bytes == 0) return;
  std::unique_lock lock(access_);
  throw_error();
  const bool from_device = way != direction::host_to_device;
  const bool to_device = way != direction::device_to_host;
  if ((from_device && !memory_.owns(from, bytes)) || (to_device && !memory_.owns(to, bytes))) {
    throw device_error("emulated device: a copy of " + std::to_string(bytes) +
                       " bytes that are not in an array of its memory, at " + site.file + ":" +
                       std::to_string(site.line));
  }
  work item;
  item.name = "copy";
  bool is_awaited = false;
  if (!from_device && !is_pinned(from, bytes)) {
    const auto* const first = static_cast<const std::byte*>(from);
    item.call = [to, bytes, kept = std::vector<std::byte>(first, first + bytes)] {
      std::memcpy(to, kept.data(), bytes);
    };
  } else {
    item.call = [to, from, bytes] { std::memmove(to, from, bytes); };
    is_awaited = !to_device && !is_pinned(to, bytes);
  }
  known(in).queue.push_back(std::move(item));
  lock.unlock();
  if (is_awaited) wait(in);
}

namespace {
/// Returns large zeroed ranges to the host, because most pages of a large array are never touched.
void fill_memory(void* memory, int byte, std::uint64_t bytes) {
  constexpr std::uint64_t large = std::uint64_t{1} << 20;
  auto* const first = static_cast<std::byte*>(memory);
  const std::uint64_t before = (page_bytes - reinterpret_cast<std::uintptr_t>(first) % page_bytes) % page_bytes;
  const std::uint64_t whole = bytes < large ? 0 : (bytes - before) / page_bytes * page_bytes;
  if (byte != 0 || whole == 0 || ::madvise(first + before, whole, MADV_DONTNEED) != 0) {
    std::memset(memory, byte, bytes);
    return;
  }
  std::memset(first, 0, before);
  std::memset(first + before + whole, 0, bytes - before - whole);
}
}  // namespace

void runtime::fill(void* memory, int byte, std::uint64_t bytes, stream* in, call_site site) {
  if (bytes == 0) return;
  const std::lock_guard lock(access_);
  throw_error();
  if (!memory_.owns(memory, bytes) && !is_pinned(memory, bytes)) {
    throw device_error("emulated device: " + std::to_string(bytes) +
                       " bytes to fill that are not in an array of its memory, at " + site.file + ":" +
                       std::to_string(site.line));
  }
  work item;
  item.name = "fill";
  item.call = [memory, byte, bytes] { fill_memory(memory, byte, bytes); };
  known(in).queue.push_back(std::move(item));
}

}  // namespace gpulog::backend::gpu::emulated
