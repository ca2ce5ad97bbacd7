#include "backend/block_pool.hpp"

#include <iterator>

namespace gpulog::backend {

void block_pool::insert(address begin, std::uint64_t bytes) {
  free_by_address_.emplace(begin, bytes);
  free_by_size_.emplace(bytes, begin);
  free_bytes_ += bytes;
}

void block_pool::erase(std::map<address, std::uint64_t>::iterator block) {
  free_bytes_ -= block->second;
  free_by_size_.erase({block->second, block->first});
  free_by_address_.erase(block);
}

void block_pool::add_slab(void* memory, std::uint64_t bytes) {
  const std::uint64_t usable = bytes / granule * granule;
  if (usable <= granule) return;
  insert(reinterpret_cast<address>(memory), usable - granule);
}

void* block_pool::allocate(std::uint64_t bytes) {
  const std::uint64_t wanted = rounded(bytes == 0 ? 1 : bytes);
  const auto found = free_by_size_.lower_bound({wanted, 0});
  if (found == free_by_size_.end()) return nullptr;
  const auto [size, begin] = *found;
  erase(free_by_address_.find(begin));
  if (size > wanted) insert(begin + static_cast<address>(wanted), size - wanted);
  return reinterpret_cast<void*>(begin);
}

void block_pool::deallocate(void* block, std::uint64_t bytes) {
  address begin = reinterpret_cast<address>(block);
  std::uint64_t size = rounded(bytes == 0 ? 1 : bytes);
  auto next = free_by_address_.lower_bound(begin);
  if (next != free_by_address_.end() && begin + size == next->first) {
    size += next->second;
    erase(std::exchange(next, std::next(next)));
  }
  if (next != free_by_address_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == begin) {
      begin = before->first;
      size += before->second;
      erase(before);
    }
  }
  insert(begin, size);
}

}  // namespace gpulog::backend
