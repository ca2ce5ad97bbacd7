#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace gpulog::backend {

/// Allocates blocks from large slabs of memory: best fit, and adjacent free blocks are merged. The pool never accesses
/// the memory, so a slab may be in device memory. Not thread-safe.
class block_pool {
 public:
  /// Sizes and addresses are multiples of this.
  static constexpr std::uint64_t granule = 512;

  /// Adds a slab, whose address must be a multiple of the granule. One granule stays unused so that no block can span
  /// two slabs.
  void add_slab(void* memory, std::uint64_t bytes);
  /// @return a block of at least `bytes` bytes, or nullptr if no free block is large enough
  [[nodiscard]] void* allocate(std::uint64_t bytes);
  /// @param bytes the size passed to allocate()
  void deallocate(void* block, std::uint64_t bytes);
  /// Returns the total size of all free blocks.
  [[nodiscard]] std::uint64_t free_bytes() const { return free_bytes_; }
  /// Returns the slab size needed for a block of `bytes` bytes.
  [[nodiscard]] static std::uint64_t slab_bytes_for(std::uint64_t bytes) { return rounded(bytes) + granule; }

 private:
  using address = std::uintptr_t;

  [[nodiscard]] static std::uint64_t rounded(std::uint64_t bytes) { return (bytes + granule - 1) / granule * granule; }
  void insert(address begin, std::uint64_t bytes);
  void erase(std::map<address, std::uint64_t>::iterator block);

  std::map<address, std::uint64_t> free_by_address_;
  std::set<std::pair<std::uint64_t, address>> free_by_size_;
  std::uint64_t free_bytes_ = 0;
};

}  // namespace gpulog::backend
