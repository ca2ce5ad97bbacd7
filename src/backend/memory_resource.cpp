#include "backend/memory_resource.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>

#include "support/option_names.hpp"

namespace gpulog::backend {

void memory_resource::charge(std::uint64_t bytes) {
  const std::uint64_t now = used_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (limit_ != 0 && now > limit_) {
    release(bytes);
    throw memory_exceeded(bytes, now - bytes, limit_);
  }
  allocations_.fetch_add(1, std::memory_order_relaxed);
  std::uint64_t peak = peak_.load(std::memory_order_relaxed);
  while (now > peak && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
}

void* memory_resource::allocate(std::uint64_t bytes, fresh_memory contents) {
  if (bytes == 0) return nullptr;
  if (void* const spilled = do_spill(bytes, bytes); spilled != nullptr) return spilled;
  charge(bytes);
  void* memory = nullptr;
  try {
    memory = do_allocate(bytes, contents);
    if (memory == nullptr) throw memory_exceeded(bytes, used() - bytes, 0);
  } catch (...) {
    release(bytes);
    throw;
  }
  return memory;
}

void memory_resource::deallocate(void* memory, std::uint64_t bytes) noexcept {
  if (memory == nullptr || do_unspill(memory, bytes)) return;
  do_deallocate(memory, bytes);
  release(bytes);
}

/// Moves the contents of an array to another one.
void* memory_resource::move(void* memory, std::uint64_t old_bytes, void* to, std::uint64_t new_bytes) {
  std::memcpy(to, memory, static_cast<std::size_t>(std::min(old_bytes, new_bytes)));
  deallocate(memory, old_bytes);
  return to;
}

void* memory_resource::resize(void* memory, std::uint64_t old_bytes, std::uint64_t new_bytes) {
  if (memory == nullptr) return allocate(new_bytes);
  if (new_bytes == 0) {
    deallocate(memory, old_bytes);
    return nullptr;
  }
  if (is_spilled(memory, old_bytes)) return move(memory, old_bytes, allocate(new_bytes), new_bytes);
  if (new_bytes > old_bytes) {
    if (void* const spilled = do_spill(new_bytes, new_bytes - old_bytes); spilled != nullptr)
      return move(memory, old_bytes, spilled, new_bytes);
    charge(new_bytes - old_bytes);
  }
  void* moved = nullptr;
  try {
    moved = do_resize(memory, old_bytes, new_bytes);
    if (moved == nullptr) throw memory_exceeded(new_bytes, used(), 0);
  } catch (...) {
    if (new_bytes > old_bytes) release(new_bytes - old_bytes);
    throw;
  }
  if (new_bytes < old_bytes) release(old_bytes - new_bytes);
  return moved;
}

std::string memory_resource::named_uses() const {
  std::string text;
  for (const named_memory* const part : named_) {
    if (part->used() == 0) continue;
    text += text.empty() ? ", of which " : " and ";
    text += std::to_string(part->used()) + " for " + part->purpose();
  }
  return text;
}

named_memory::named_memory(memory_resource& whole, const char* purpose) : whole_(&whole), purpose_(purpose) {
  whole.named_.push_back(this);
}

named_memory::~named_memory() { std::erase(whole_->named_, this); }

void* named_memory::do_allocate(std::uint64_t bytes, fresh_memory contents) {
  try {
    return whole_->allocate(bytes, contents);
  } catch (memory_exceeded& fault) {
    fault.purpose = purpose_;
    throw;
  }
}

void* named_memory::do_resize(void* memory, std::uint64_t old_bytes, std::uint64_t new_bytes) {
  try {
    return whole_->resize(memory, old_bytes, new_bytes);
  } catch (memory_exceeded& fault) {
    fault.purpose = purpose_;
    throw;
  }
}

std::string shortage(const memory_exceeded& fault, const memory_resource& memory) {
  std::string text = std::to_string(fault.requested) + " more bytes were needed";
  if (fault.purpose != nullptr) text += std::string(" for ") + fault.purpose;
  text += " with " + std::to_string(fault.used) + " bytes in use" + memory.named_uses();
  if (fault.limit == 0) return text + ", and the machine has no more";
  return text + ", and the limit is " + std::to_string(fault.limit) + " bytes (" + memory.remedy() + ")";
}

std::string memory_resource::remedy() const { return "raise it with " + option_named("memory-limit"); }

std::uint64_t machine_bytes() {
  auto bytes = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  for (const char* const limit : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::uint64_t group = 0;  // the first one has "max" for no limit, which is no number
    if (std::ifstream(limit) >> group) bytes = std::min(bytes, group);
  }
  return std::min<std::uint64_t>(bytes, std::numeric_limits<std::size_t>::max());
}

memory_resource& unlimited_memory() {
  static host_memory memory;
  return memory;
}

namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::uint64_t huge_page_bytes = 2u << 20;
// Larger arrays are separate mappings: they can grow without copying, and freeing returns the pages.
constexpr std::uint64_t mapping_threshold = 1u << 20;

#if defined(__SANITIZE_THREAD__)
/// ThreadSanitizer does not see mremap: the next user of the old addresses would seem to race with the previous user.
constexpr bool may_remap = false;
#else
constexpr bool may_remap = true;
#endif
#if defined(__EMSCRIPTEN__)
/// WebAssembly has no mappings: emscripten takes them from the heap.
constexpr bool may_map = false;
#else
constexpr bool may_map = true;
#endif

bool is_mapping(std::uint64_t bytes) { return may_map && bytes >= mapping_threshold; }
bool may_be_spilled(std::uint64_t bytes) { return bytes >= calibration::least_spilled_bytes; }
std::size_t round_up(std::uint64_t bytes, std::uint64_t unit) {
  return static_cast<std::size_t>((bytes + unit - 1) / unit * unit);
}

void* map(std::uint64_t bytes) {
  void* memory = mmap(nullptr, round_up(bytes, page_bytes), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (bytes >= huge_page_bytes) madvise(memory, round_up(bytes, page_bytes), MADV_HUGEPAGE);
  return memory;
}

void* heap(std::uint64_t bytes, fresh_memory contents) {
  void* memory = std::aligned_alloc(64, round_up(bytes, 64));
  if (memory != nullptr && contents == fresh_memory::zeroed) std::memset(memory, 0, static_cast<std::size_t>(bytes));
  return memory;
}

}  // namespace

void* host_memory::do_allocate(std::uint64_t bytes, fresh_memory contents) {
  if (bytes > std::numeric_limits<std::size_t>::max() - huge_page_bytes) return nullptr;
  return is_mapping(bytes) ? map(bytes) : heap(bytes, contents);
}

void host_memory::do_deallocate(void* memory, std::uint64_t bytes) noexcept {
  if (is_mapping(bytes)) {
    munmap(memory, round_up(bytes, page_bytes));
  } else {
    std::free(memory);
  }
}

void* host_memory::do_resize(void* memory, std::uint64_t old_bytes, std::uint64_t new_bytes) {
#if !defined(__EMSCRIPTEN__)
  if (may_remap && is_mapping(old_bytes) && is_mapping(new_bytes)) {
    void* moved = mremap(memory, round_up(old_bytes, page_bytes), round_up(new_bytes, page_bytes), MREMAP_MAYMOVE);
    if (moved == MAP_FAILED) return nullptr;
    // The last page may hold old data from before a shrink.
    const std::uint64_t last_page_end = std::min(round_up(old_bytes, page_bytes), new_bytes);
    if (last_page_end > old_bytes) std::memset(static_cast<char*>(moved) + old_bytes, 0, last_page_end - old_bytes);
    if (new_bytes >= huge_page_bytes) madvise(moved, round_up(new_bytes, page_bytes), MADV_HUGEPAGE);
    return moved;
  }
#endif
  void* moved = do_allocate(new_bytes, fresh_memory::zeroed);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, memory, static_cast<std::size_t>(std::min(old_bytes, new_bytes)));
  do_deallocate(memory, old_bytes);
  return moved;
}

void host_memory::discard(void* memory, std::uint64_t bytes) noexcept {
  // Only whole pages: bytes around the range may be in use.
  const auto begin = round_up(reinterpret_cast<std::uintptr_t>(memory), page_bytes);
  const auto end =
      (reinterpret_cast<std::uintptr_t>(memory) + static_cast<std::size_t>(bytes)) / page_bytes * page_bytes;
  if (end <= begin) return;
  // MADV_REMOVE frees the space on the disk, and fails for memory.
  if (spill_ != nullptr && madvise(reinterpret_cast<void*>(begin), end - begin, MADV_REMOVE) == 0) return;
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

void host_memory::spill_into(const std::string& directory) {
  if (limit() == 0) set_limit(machine_bytes());
  spill_ = std::make_unique<spill_file>(directory);
}

std::string host_memory::remedy() const {
  if (spill_ == nullptr) return memory_resource::remedy() + ", or name a folder with " + option_named("spill");
  const std::string text = memory_resource::remedy();
  return spill_->was_full() ? text + "; folder " + spill_->directory() + " of " + option_named("spill") + " is full"
                            : text;
}

/// @param share of the limit in use from which on arrays are spilled
void* host_memory::spill_beyond(double share, std::uint64_t bytes, std::uint64_t more) {
  const auto used_bytes = static_cast<std::uint64_t>(share * static_cast<double>(limit()));
  const bool is_wanted = spill_ != nullptr && may_be_spilled(bytes) && used() + more > used_bytes;
  return is_wanted ? spill_->map(bytes) : nullptr;
}

void* host_memory::do_spill(std::uint64_t bytes, std::uint64_t more) {
  return spill_beyond(calibration::used_share_for_others, bytes, more);
}

bool host_memory::is_spilled(const void* memory, std::uint64_t bytes) const {
  return spill_ != nullptr && may_be_spilled(bytes) && spill_->contains(memory);
}

bool host_memory::do_unspill(void* memory, std::uint64_t bytes) noexcept {
  return spill_ != nullptr && may_be_spilled(bytes) && spill_->unmap(memory);
}

}  // namespace gpulog::backend
