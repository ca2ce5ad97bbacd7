#include "backend/gpu/emulated/guarded_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "backend/gpu/emulated/fault_handler.hpp"
#include "backend/gpu/emulated/sanitizer.hpp"

namespace gpulog::backend::gpu::emulated {

namespace {

constexpr std::uint64_t alignment = 256;
constexpr std::uint64_t red_zone = 256;
constexpr std::uint64_t least_reserved = std::uint64_t{16} << 30;
/// Without protection keys, opening and closing the memory changes the entry of each page in use: more than half of the
/// time of programs with many launches (tests/programs/value_sets: 8.1 s with small pages, 2.3 s with huge pages). The
/// first part of the memory, which only small arrays use, has huge pages. Large arrays do not, because kernels touch
/// few of their pages.
constexpr std::uint64_t huge_page = std::uint64_t{2} << 20;
constexpr std::uint64_t huge_pages_bytes = std::uint64_t{256} << 20;
constexpr std::uint64_t most_in_huge_pages = std::uint64_t{32} << 20;
/// Larger allocations are filled only at both ends: touching every page would cost more than the rest of a test.
constexpr std::uint64_t wholly_filled = std::uint64_t{256} << 10;
/// Arrays of at least this size are returned to the host.
constexpr std::uint64_t given_back = std::uint64_t{32} << 20;
constexpr std::uint64_t filled_end = std::uint64_t{64} << 10;
constexpr std::size_t most_quarantined = 64;
constexpr std::uint64_t most_quarantined_bytes = std::uint64_t{32} << 20;

std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

/// Applies `change` to an allocation, or only to both ends of a large allocation.
template <class Change>
void at_ends(std::byte* space, std::uint64_t bytes, const Change& change) {
  if (bytes <= 2 * wholly_filled) {
    change(space, bytes);
    return;
  }
  change(space, wholly_filled);
  change(space + bytes - wholly_filled, wholly_filled);
}

}  // namespace

guarded_memory::guarded_memory(std::uint64_t limit)
    : limit_(limit), reserved_(rounded_up(std::max(least_reserved, 2 * limit), huge_page)) {
  void* const mapping =
      ::mmap(nullptr, reserved_ + huge_page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) throw std::runtime_error("the host has no room for the memory of the emulated device");
  base_ = static_cast<std::byte*>(mapping) + (huge_page - reinterpret_cast<std::uintptr_t>(mapping) % huge_page);
  // Fails where the host has no huge pages.
  ::madvise(base_, huge_pages_bytes, MADV_HUGEPAGE);
  free_.emplace(0, huge_pages_bytes);
  free_.emplace(huge_pages_bytes, reserved_ - huge_pages_bytes);
  guard_device_memory(base_, reserved_);
}

void* guarded_memory::allocate(std::uint64_t bytes) {
  if (bytes == 0 || bytes > limit_ - std::min(limit_, used_)) return nullptr;
  const std::uint64_t space = rounded_up(bytes, alignment) + 2 * red_zone;
  const auto first = space > most_in_huge_pages ? free_.lower_bound(huge_pages_bytes) : free_.begin();
  const auto found = std::find_if(first, free_.end(), [&](const auto& one) { return one.second >= space; });
  if (found == free_.end()) return nullptr;
  const auto [begin, room] = *found;
  free_.erase(found);
  if (room > space) free_.emplace(begin + space, room - space);
  block made;
  made.bytes = bytes;
  made.space_begin = begin;
  made.space_bytes = space;
  live_.emplace(begin + red_zone, made);
  used_ += bytes;
  high_water_ = std::max(high_water_, rounded_up(begin + space, huge_page));
  unprepared_.push_back(begin + red_zone);
  return base_ + begin + red_zone;
}

void guarded_memory::prepare(blocks::value_type& one) {
  auto& [begin, made] = one;
  std::byte* const space = base_ + made.space_begin;
  std::byte* const memory = base_ + begin;
  if (made.bytes <= wholly_filled) {
    std::memset(memory, fresh_byte, made.bytes);
  } else {
    std::memset(memory, fresh_byte, filled_end);
    std::memset(memory + made.bytes - filled_end, fresh_byte, filled_end);
  }
  make_red_zone(space, red_zone);
  make_red_zone(memory + made.bytes, made.space_bytes - red_zone - made.bytes);
  made.is_prepared = true;
}

void guarded_memory::open() {
  if (is_open_) return;
  if (has_memory_key()) {
    // The page protection stays unchanged; the calling thread receives access by key.
    if (reachable_ < high_water_ && !reach_with_key(base_ + reachable_, high_water_ - reachable_))
      throw std::runtime_error("the host does not let the memory of the emulated device be opened");
  } else if (high_water_ != 0) {
    ::mprotect(base_, high_water_, PROT_READ | PROT_WRITE);
  }
  reachable_ = high_water_;
  access_.emplace();
  is_open_ = true;
  for (const std::uint64_t begin : unprepared_) {
    const auto found = live_.find(begin);
    if (found != live_.end() && !found->second.is_prepared) prepare(*found);
  }
  unprepared_.clear();
  // Freed blocks too: earlier work may still use the memory.
  for (blocks::value_type& one : retired_) {
    if (!one.second.is_prepared) prepare(one);
  }
}

void guarded_memory::close() noexcept {
  if (!is_open_) return;
  access_.reset();
  if (!has_memory_key() && reachable_ != 0) ::mprotect(base_, reachable_, PROT_NONE);
  is_open_ = false;
}

bool guarded_memory::retire(void* memory) {
  const auto found = live_.find(static_cast<std::uint64_t>(static_cast<std::byte*>(memory) - base_));
  if (found == live_.end()) return false;
  used_ -= found->second.bytes;
  retired_.emplace_back(*found);
  live_.erase(found);
  return true;
}

std::string guarded_memory::reclaim() {
  std::string damage;
  for (blocks::value_type& one : retired_) {
    const block& freed = one.second;
    if (freed.is_prepared) {
      const std::string found = damage_of(one);
      if (damage.empty()) damage = found;
      permit(base_ + one.first, freed.bytes);
      std::memset(base_ + one.first, freed_byte, std::min(freed.bytes, filled_end));
      if (freed.bytes > given_back) {
        const std::uint64_t first = rounded_up(one.first + filled_end, page_bytes);
        ::madvise(base_ + first, (one.first + freed.bytes) / page_bytes * page_bytes - first, MADV_DONTNEED);
      }
    }
    at_ends(base_ + freed.space_begin, freed.space_bytes, forbid);
    quarantine_.emplace_back(one);
    quarantined_ += freed.space_bytes;
  }
  retired_.clear();
  while (quarantine_.size() > most_quarantined || quarantined_ > most_quarantined_bytes) {
    const block& oldest = quarantine_.front().second;
    free_space(oldest.space_begin, oldest.space_bytes);
    quarantined_ -= oldest.space_bytes;
    quarantine_.pop_front();
  }
  return damage;
}

void guarded_memory::free_space(std::uint64_t begin, std::uint64_t bytes) {
  at_ends(base_ + begin, bytes, permit);
  auto next = free_.lower_bound(begin);
  if (next != free_.end() && begin + bytes == next->first && next->first != huge_pages_bytes) {
    bytes += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin() && begin != huge_pages_bytes) {
    const auto before = std::prev(next);
    if (before->first + before->second == begin) {
      before->second += bytes;
      return;
    }
  }
  free_.emplace(begin, bytes);
}

bool guarded_memory::owns(const void* memory, std::uint64_t bytes) const {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  const auto base = reinterpret_cast<std::uintptr_t>(base_);
  if (address < base || address >= base + reserved_) return false;
  const std::uint64_t begin = address - base;
  const auto behind = live_.upper_bound(begin);
  if (behind == live_.begin()) return false;
  const auto& [first, owned] = *std::prev(behind);
  return begin + bytes <= first + owned.bytes;
}

std::string guarded_memory::damage_of(blocks::value_type& one) const {
  auto& [begin, looked_at] = one;
  if (!looked_at.is_prepared || looked_at.is_damaged) return {};
  const std::byte* const memory = base_ + begin;
  const bool front = !is_untouched(base_ + looked_at.space_begin, red_zone);
  const bool back = !is_untouched(memory + looked_at.bytes, looked_at.space_bytes - red_zone - looked_at.bytes);
  if (!front && !back) return {};
  looked_at.is_damaged = true;
  return std::string("somebody wrote ") + (back ? "behind" : "in front of") + " an array of " +
         std::to_string(looked_at.bytes) + " bytes in the device's memory";
}

std::string guarded_memory::find_damage() {
  if constexpr (watches_addresses) return {};
  constexpr std::size_t most_at_once = 256;
  std::string damage;
  auto at = live_.size() <= most_at_once ? live_.begin() : live_.lower_bound(next_looked_at_);
  for (std::size_t i = std::min(most_at_once, live_.size()); i > 0; --i) {
    if (at == live_.end()) at = live_.begin();
    const std::string found = damage_of(*at);
    if (damage.empty()) damage = found;
    ++at;
  }
  next_looked_at_ = at == live_.end() ? 0 : at->first;
  return damage;
}

}  // namespace gpulog::backend::gpu::emulated
