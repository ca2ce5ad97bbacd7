#include "backend/block_pool.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace gpulog::backend {
namespace {

constexpr std::uint64_t granule = block_pool::granule;

/// An address that is never read: the pool does not touch its memory.
void* at(std::uint64_t granules) { return reinterpret_cast<void*>(granules * granule); }

TEST(block_pool, an_empty_one_has_nothing) {
  block_pool pool;
  EXPECT_EQ(pool.allocate(1), nullptr);
  EXPECT_EQ(pool.free_bytes(), 0U);
}

TEST(block_pool, takes_the_smallest_block_that_is_large_enough) {
  block_pool pool;
  pool.add_slab(at(1000), 101 * granule);
  pool.add_slab(at(5000), 11 * granule);
  EXPECT_EQ(pool.allocate(10 * granule), at(5000));
  EXPECT_EQ(pool.allocate(10 * granule), at(1000));
  EXPECT_EQ(pool.allocate(91 * granule), nullptr);
  EXPECT_EQ(pool.allocate(90 * granule), at(1010));
  EXPECT_EQ(pool.free_bytes(), 0U);
}

TEST(block_pool, free_neighbours_become_one_block_again) {
  block_pool pool;
  pool.add_slab(at(100), 31 * granule);
  void* const a = pool.allocate(10 * granule);
  void* const b = pool.allocate(10 * granule);
  void* const c = pool.allocate(10 * granule);
  pool.deallocate(a, 10 * granule);
  pool.deallocate(c, 10 * granule);
  EXPECT_EQ(pool.allocate(11 * granule), nullptr);
  pool.deallocate(b, 10 * granule);
  EXPECT_EQ(pool.allocate(30 * granule), at(100));
}

TEST(block_pool, no_block_reaches_from_one_slab_into_the_next) {
  block_pool pool;
  pool.add_slab(at(100), 10 * granule);
  pool.add_slab(at(110), 10 * granule);
  EXPECT_EQ(pool.allocate(10 * granule), nullptr);
  EXPECT_EQ(pool.free_bytes(), 18 * granule);
}

TEST(block_pool, a_slab_of_the_size_asked_for_is_enough) {
  for (const std::uint64_t bytes : {std::uint64_t{1}, granule - 1, granule, granule + 1, 7 * granule}) {
    block_pool pool;
    pool.add_slab(at(4), block_pool::slab_bytes_for(bytes));
    EXPECT_EQ(pool.allocate(bytes), at(4)) << bytes;
  }
}

TEST(block_pool, blocks_in_use_never_overlap) {
  std::mt19937 random(20261121);
  block_pool pool;
  std::uint64_t total = 0;
  for (std::uint64_t slab = 1; slab <= 4; ++slab) {
    pool.add_slab(at(slab * 10000), 2001 * granule);
    total += 2000 * granule;
  }
  std::map<std::uintptr_t, std::uint64_t> used;
  for (int step = 0; step < 20000; ++step) {
    if (random() % 2 == 0 || used.empty()) {
      const std::uint64_t bytes = 1 + random() % (300 * granule);
      const auto begin = reinterpret_cast<std::uintptr_t>(pool.allocate(bytes));
      if (begin == 0) continue;
      const auto next = used.lower_bound(begin);
      if (next != used.end()) ASSERT_LE(begin + bytes, next->first);
      if (next != used.begin()) {
        const auto before = std::prev(next);
        ASSERT_LE(before->first + before->second, begin);
      }
      used.emplace(begin, bytes);
    } else {
      auto block = used.begin();
      std::advance(block, static_cast<long>(random() % used.size()));
      pool.deallocate(reinterpret_cast<void*>(block->first), block->second);
      used.erase(block);
    }
  }
  for (const auto& [begin, bytes] : used) pool.deallocate(reinterpret_cast<void*>(begin), bytes);
  EXPECT_EQ(pool.free_bytes(), total);
  for (int slab = 0; slab < 4; ++slab) EXPECT_NE(pool.allocate(2000 * granule), nullptr);
}

}  // namespace
}  // namespace gpulog::backend
