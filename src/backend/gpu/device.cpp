#include "backend/gpu/device.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "backend/gpu/staging_ring.hpp"

namespace gpulog::backend::gpu {

namespace {

/// Above this size, the copy itself takes most of the time. No command measures this number.
constexpr std::uint64_t most_staged_bytes = 64u << 10;

}  // namespace

std::string why_not_available(int device) {
  int count = 0;
  std::string reason = count_devices(count);
  // Without a driver, the runtime reports an insufficient version.
  if (!reason.empty() && has_driver()) return reason;
  if (count == 0) return std::string("no GPU was found for ") + vendor_name();
  if (device < 0 || device >= count) {
    return "there is no device " + std::to_string(device) + "; devices are 0.." + std::to_string(count - 1);
  }
  return {};
}

std::string start_device(int device) {
  std::string reason = why_not_available(device);
  if (reason.empty()) reason = start_context(device);
  return reason;
}

device_context::device_context(int device) : device_(device) {
  use();
  stream_ = make_stream();
  staged_ = allocate_pinned<std::byte>(most_staged_bytes);
  properties_ = properties_of(device);
  reports_ = allocate_pinned<kernel_report>(most_reports);
  std::fill_n(reports_, most_reports, kernel_report{});
}

device_context::~device_context() {
  staging_.reset();
  deallocate_pinned(staged_);
  deallocate_pinned(reports_);
  destroy(stream_);
}

void device_context::use() const { use_device(device_); }

staging_ring& device_context::staging() const {
  if (!staging_) staging_ = std::make_unique<staging_ring>(*this);
  return *staging_;
}

void device_context::synchronize() const { gpu::synchronize(stream_); }

std::pair<std::uint64_t, std::uint64_t> device_context::read_pair(const std::uint64_t* counters, unsigned n) const {
  std::uint64_t values[2] = {};
  read(counters, values, n * sizeof *counters);
  return {values[0], values[1]};
}

void device_context::read(const void* from, void* to, std::uint64_t bytes) const {
  const bool is_staged = bytes <= most_staged_bytes;
  copy_async(is_staged ? staged_ : to, from, bytes, direction::device_to_host, stream_);
  synchronize();
  if (is_staged) std::memcpy(to, staged_, bytes);
}

kernel_report device_context::wait_for_report(std::uint64_t number) const {
  wait_for_value(report(number)->number, number);
  return *report(number);
}

void device_context::wait_for_value(std::uint64_t& written, std::uint64_t value) const {
  constexpr unsigned polls_between_queries = 1u << 14;
  std::atomic_ref<std::uint64_t> seen(written);
  for (unsigned polls = 1; seen.load(std::memory_order_acquire) != value; ++polls) {
    if (polls % polls_between_queries != 0) continue;
    // A failed kernel never reports.
    if (is_idle(stream_)) break;  // all work is done, so the report has arrived
  }
}

device_memory::device_memory(const device_context& context, std::uint64_t limit)
    : context_(&context), plain_(is_for_tests || std::getenv("GPULOG_PLAIN_DEVICE_ALLOCATIONS") != nullptr) {
  set_limit(limit);
  if (plain_) return;
  // The first slab takes 1/8 of the free memory, so that a result of a few gigabytes needs no second slab while rules
  // run (bench/results/h100-closures.txt: 0.5 ms of 2.4). Larger slabs take longer to allocate and to free: 0.1 ms and
  // 0.7 ms per GB on an H200.
  constexpr std::uint64_t share = 8;
  const std::uint64_t free_bytes = memory_of_device().free_bytes;
  add_slab(limit == 0 ? free_bytes / share : std::min<std::uint64_t>(limit, free_bytes / share));
}

device_memory::~device_memory() {
  for (void* slab : slabs_) gpu::deallocate(slab);
}

bool device_memory::add_slab(std::uint64_t bytes) {
  void* const slab = gpu::allocate(bytes);
  if (slab == nullptr) return false;
  slabs_.push_back(slab);
  slab_bytes_ += bytes;
  pool_.add_slab(slab, bytes);
  return true;
}

void* device_memory::take(std::uint64_t bytes) {
  void* memory = pool_.allocate(bytes);
  if (memory != nullptr) return memory;
  // The new slab is as large as all slabs so far, to leave space for later arrays, but at most a quarter of the free
  // memory. If that allocation fails, the slab is only as large as needed.
  const std::uint64_t free_bytes = memory_of_device().free_bytes;
  const std::uint64_t needed = block_pool::slab_bytes_for(bytes);
  std::uint64_t wanted = std::max<std::uint64_t>(needed, std::min(free_bytes / 4, slab_bytes_));
  if (limit() != 0) wanted = std::max(needed, std::min(wanted, limit() - std::min(limit(), used())));
  if (!add_slab(wanted) && !add_slab(needed)) return nullptr;
  return pool_.allocate(bytes);
}

void device_memory::prepare(std::uint64_t allocations, std::uint64_t bytes) {
  if (plain_) return;
  const std::uint64_t together = allocations * block_pool::slab_bytes_for(bytes);
  // The allocation that exceeds the limit reports the shortage.
  if (limit() != 0 && together > limit() - std::min(limit(), used())) return;
  if (void* const memory = take(together)) pool_.deallocate(memory, together);
}

void* device_memory::do_allocate(std::uint64_t bytes, fresh_memory contents) {
  void* memory = nullptr;
  if (plain_) {
    memory = gpu::allocate(bytes);
  } else {
    memory = take(bytes);
  }
  if (memory != nullptr && contents == fresh_memory::zeroed) fill_async(memory, 0, bytes, context_->stream());
  return memory;
}

void device_memory::do_deallocate(void* memory, std::uint64_t bytes) noexcept {
  if (plain_) {
    gpu::deallocate(memory);
  } else {
    pool_.deallocate(memory, bytes);
  }
}

void* device_memory::do_resize(void* memory, std::uint64_t old_bytes, std::uint64_t new_bytes) {
  void* moved = do_allocate(new_bytes, fresh_memory::anything);
  if (moved == nullptr) return nullptr;
  const std::uint64_t kept = std::min(old_bytes, new_bytes);
  copy_async(moved, memory, kept, direction::device_to_device, context_->stream());
  if (new_bytes > kept) fill_async(static_cast<char*>(moved) + kept, 0, new_bytes - kept, context_->stream());
  do_deallocate(memory, old_bytes);
  return moved;
}

}  // namespace gpulog::backend::gpu
