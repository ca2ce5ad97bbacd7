#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace gpulog::backend {

/// Hands out parts of large slabs of memory: the smallest free block that is large enough; neighbours merge when they
/// are free again. It never touches the memory, so slabs may lie on a device. Not thread-safe.
class block_pool {
 public:
  /// Sizes and addresses are multiples of this.
  static constexpr std::uint64_t granule = 512;

  /// Takes a slab over; its address is a multiple of the granule. One granule of it stays unused, so that no block ever
  /// reaches from one slab into another.
  void add_slab(void* memory, std::uint64_t bytes);
  /// @return a block of at least that many bytes; nullptr when no free block is large enough
  [[nodiscard]] void* allocate(std::uint64_t bytes);
  /// @param bytes as it was allocated with
  void deallocate(void* block, std::uint64_t bytes);
  /// Of all free blocks together.
  [[nodiscard]] std::uint64_t free_bytes() const { return free_bytes_; }
  /// What a slab has to have for a block of that many bytes.
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
