#include "backend/memory_resource.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <thread>
#include <vector>

namespace gpulog::backend {
namespace {

/// From this size on an array of host_memory is a mapping of its own.
constexpr std::uint64_t mapping = 1u << 20;
constexpr std::uint64_t page = 4096;

bool all_are(const void* memory, std::uint64_t begin, std::uint64_t end, std::uint8_t value) {
  const auto* const bytes = static_cast<const std::uint8_t*>(memory);
  return std::all_of(bytes + begin, bytes + end, [value](std::uint8_t byte) { return byte == value; });
}

TEST(memory_resource, counts_what_is_in_use_and_its_peak) {
  host_memory memory;
  EXPECT_EQ(memory.used(), 0U);
  EXPECT_EQ(memory.allocate(0), nullptr);
  EXPECT_EQ(memory.allocations(), 0U);
  void* const a = memory.allocate(1000);
  void* const b = memory.allocate(3 * mapping);
  EXPECT_EQ(memory.used(), 1000 + 3 * mapping);
  memory.deallocate(b, 3 * mapping);
  EXPECT_EQ(memory.used(), 1000U);
  memory.deallocate(a, 1000);
  memory.deallocate(nullptr, 0);
  EXPECT_EQ(memory.used(), 0U);
  EXPECT_EQ(memory.peak(), 1000 + 3 * mapping);
  EXPECT_EQ(memory.allocations(), 2U);
}

TEST(memory_resource, memory_is_zero_and_aligned) {
  host_memory memory;
  for (const std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{63}, std::uint64_t{65}, mapping - 1, mapping,
                                    mapping + 1, 2 * mapping, 5 * mapping + 17}) {
    // Twice, so that the heap hands out memory that was written before.
    for (int round = 0; round < 2; ++round) {
      void* const made = memory.allocate(bytes);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(made) % 64, 0U);
      EXPECT_TRUE(all_are(made, 0, bytes, 0)) << bytes;
      std::memset(made, 0xab, bytes);
      memory.deallocate(made, bytes);
    }
  }
}

TEST(memory_resource, resize_keeps_the_contents_and_new_bytes_are_zero) {
  const std::vector<std::uint64_t> sizes = {
      1, 100, 4096, mapping - 1, mapping, mapping + 1, mapping + page + 100, 2 * mapping, 6 * mapping + 33};
  for (const std::uint64_t from : sizes) {
    for (const std::uint64_t to : sizes) {
      host_memory memory;
      void* made = memory.allocate(from);
      std::memset(made, 0x5a, from);
      made = memory.resize(made, from, to);
      EXPECT_EQ(memory.used(), to);
      EXPECT_TRUE(all_are(made, 0, std::min(from, to), 0x5a)) << from << " to " << to;
      EXPECT_TRUE(all_are(made, std::min(from, to), to, 0)) << from << " to " << to;
      // And back up: what was cut off is gone.
      const std::uint64_t larger = std::max(from, to) + page;
      made = memory.resize(made, to, larger);
      EXPECT_TRUE(all_are(made, 0, std::min(from, to), 0x5a)) << from << " to " << to << " to " << larger;
      EXPECT_TRUE(all_are(made, to, larger, 0)) << from << " to " << to << " to " << larger;
      memory.deallocate(made, larger);
      EXPECT_EQ(memory.used(), 0U);
    }
  }
}

TEST(memory_resource, resize_from_and_to_nothing) {
  host_memory memory;
  void* const made = memory.resize(nullptr, 0, 100);
  EXPECT_NE(made, nullptr);
  EXPECT_EQ(memory.used(), 100U);
  EXPECT_EQ(memory.resize(made, 100, 0), nullptr);
  EXPECT_EQ(memory.used(), 0U);
}

TEST(memory_resource, the_limit_is_obeyed_and_what_was_there_survives) {
  host_memory memory;
  memory.set_limit(4 * mapping);
  void* made = memory.allocate(mapping);
  std::memset(made, 1, mapping);
  try {
    (void)memory.allocate(3 * mapping + 1);
    FAIL() << "the limit was passed";
  } catch (const memory_exceeded& fault) {
    EXPECT_EQ(fault.requested, 3 * mapping + 1);
    EXPECT_EQ(fault.used, mapping);
    EXPECT_EQ(fault.limit, 4 * mapping);
  }
  EXPECT_THROW((void)memory.resize(made, mapping, 4 * mapping + 1), memory_exceeded);
  EXPECT_EQ(memory.used(), mapping);
  EXPECT_EQ(memory.peak(), mapping) << "what was refused is no peak";
  EXPECT_TRUE(all_are(made, 0, mapping, 1));
  made = memory.resize(made, mapping, 4 * mapping);  // exactly the limit
  EXPECT_EQ(memory.used(), 4 * mapping);
  memory.deallocate(made, 4 * mapping);
}

TEST(memory_resource, what_the_machine_refuses_is_reported_without_a_limit) {
  host_memory memory;
  constexpr std::uint64_t more_than_an_address_space = 1ULL << 60;
  try {
    (void)memory.allocate(more_than_an_address_space);
    FAIL() << "memory that no machine has";
  } catch (const memory_exceeded& fault) {
    EXPECT_EQ(fault.requested, more_than_an_address_space);
    EXPECT_EQ(fault.limit, 0U);
  }
  EXPECT_EQ(memory.used(), 0U);
  void* const made = memory.allocate(2 * mapping);
  EXPECT_THROW((void)memory.resize(made, 2 * mapping, more_than_an_address_space), memory_exceeded);
  EXPECT_EQ(memory.used(), 2 * mapping);
  memory.deallocate(made, 2 * mapping);
}

TEST(memory_resource, discard_leaves_the_bytes_around_alone) {
  host_memory memory;
  constexpr std::uint64_t bytes = 4 * mapping;
  void* const made = memory.allocate(bytes);
  std::memset(made, 3, bytes);
  constexpr std::uint64_t begin = 100;
  constexpr std::uint64_t end = 2 * mapping + 100;
  memory.discard(static_cast<std::uint8_t*>(made) + begin, end - begin);
  EXPECT_TRUE(all_are(made, 0, begin, 3));
  EXPECT_TRUE(all_are(made, end, bytes, 3));
  EXPECT_EQ(memory.used(), bytes);
  memory.deallocate(made, bytes);
}

TEST(memory_resource, counts_are_right_from_several_threads) {
  host_memory memory;
  constexpr std::uint64_t limit = 1u << 20;
  memory.set_limit(limit);
  std::vector<std::thread> threads;
  for (unsigned worker = 0; worker < 4; ++worker) {
    threads.emplace_back([&memory, worker] {
      for (std::uint64_t round = 0; round < 2000; ++round) {
        const std::uint64_t bytes = 1 + (round * 7919 + worker) % (limit / 2);
        try {
          memory.deallocate(memory.allocate(bytes), bytes);
        } catch (const memory_exceeded&) {
          continue;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(memory.used(), 0U);
  EXPECT_GT(memory.peak(), 0U);
  EXPECT_LE(memory.peak(), limit);
}

TEST(memory_resource, a_named_part_is_counted_in_the_whole) {
  host_memory memory;
  memory.set_limit(10000);
  {
    named_memory symbols(memory, "symbols");
    named_memory records(memory, "records");
    EXPECT_EQ(memory.named_uses(), "");
    void* const own = memory.allocate(1000);
    void* part = symbols.allocate(2000);
    EXPECT_EQ(memory.used(), 3000U);
    EXPECT_EQ(memory.named_uses(), ", of which 2000 for symbols");
    part = symbols.resize(part, 2000, 3000);
    void* const other = records.allocate(500);
    EXPECT_EQ(memory.named_uses(), ", of which 3000 for symbols and 500 for records");
    for (const bool resizes : {false, true}) {
      try {
        if (resizes) {
          part = symbols.resize(part, 3000, 9000);
        } else {
          part = symbols.allocate(6000);
        }
        FAIL() << "that is more than the whole may have";
      } catch (const memory_exceeded& fault) {
        EXPECT_EQ(
            shortage(fault, memory),
            "6000 more bytes were needed for symbols with 4500 bytes in use, of which 3000 for symbols and 500 for "
            "records, and the limit is 10000 bytes (raise it with memory_limit, or name a folder with spill)");
      }
      EXPECT_EQ(symbols.used(), 3000U);
      EXPECT_EQ(memory.used(), 4500U);
    }
    symbols.deallocate(part, 3000);
    records.deallocate(other, 500);
    memory.deallocate(own, 1000);
    EXPECT_EQ(symbols.used(), 0U);
  }
  EXPECT_EQ(memory.used(), 0U);
  EXPECT_EQ(memory.named_uses(), "");
}

TEST(memory_resource, columns_are_spilled_from_a_quarter_of_the_limit_and_others_from_three_quarters) {
  host_memory memory;
  memory.set_limit(16 * mapping);
  memory.spill_into(::testing::TempDir());
  void* const first = memory.for_columns().allocate(4 * mapping);
  EXPECT_EQ(memory.used(), 4 * mapping);
  void* column = memory.for_columns().allocate(mapping + 1);
  EXPECT_EQ(memory.used(), 4 * mapping);
  EXPECT_EQ(memory.peak_spilled(), mapping + page);
  EXPECT_TRUE(all_are(column, 0, mapping + 1, 0));
  std::memset(column, 7, mapping + 1);
  column = memory.for_columns().resize(column, mapping + 1, 3 * mapping);
  EXPECT_TRUE(all_are(column, 0, mapping + 1, 7));
  EXPECT_TRUE(all_are(column, mapping + 1, 3 * mapping, 0));

  void* set = memory.allocate(8 * mapping);
  EXPECT_EQ(memory.used(), 12 * mapping);
  void* const other = memory.allocate(2 * mapping);
  EXPECT_EQ(memory.used(), 12 * mapping) << "the other set is on the disk";
  std::memset(set, 9, 8 * mapping);
  set = memory.resize(set, 8 * mapping, 9 * mapping);
  EXPECT_EQ(memory.used(), 4 * mapping) << "a set that grows beyond moves to the disk";
  EXPECT_TRUE(all_are(set, 0, 8 * mapping, 9));
  EXPECT_TRUE(all_are(set, 8 * mapping, 9 * mapping, 0));

  void* const small = memory.allocate(mapping - 1);
  EXPECT_EQ(memory.used(), 5 * mapping - 1);
  memory.deallocate(small, mapping - 1);
  memory.deallocate(set, 9 * mapping);
  memory.deallocate(other, 2 * mapping);
  // With room in memory again, an array that changes its size returns.
  memory.deallocate(first, 4 * mapping);
  column = memory.for_columns().resize(column, 3 * mapping, 2 * mapping);
  EXPECT_EQ(memory.used(), 2 * mapping);
  EXPECT_TRUE(all_are(column, 0, mapping + 1, 7));
  memory.for_columns().deallocate(column, 2 * mapping);
  EXPECT_EQ(memory.used(), 0U);
}

TEST(spill_file, space_is_used_again_and_is_zero) {
  spill_file file(::testing::TempDir());
  std::vector<void*> all;
  for (int round = 0; round < 3; ++round) {
    for (std::uint64_t pages = 1; pages <= 20; ++pages) {
      void* const made = file.map(pages * page - 1);
      ASSERT_NE(made, nullptr);
      EXPECT_TRUE(all_are(made, 0, pages * page, 0));
      std::memset(made, 0xff, pages * page);
      all.push_back(made);
    }
    EXPECT_EQ(file.used(), 210 * page);
    EXPECT_TRUE(file.contains(all.back()));
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_TRUE(file.unmap(all[(i * 7) % all.size()]));
    EXPECT_FALSE(file.contains(all.back()));
    EXPECT_FALSE(file.unmap(all.back()));
    EXPECT_EQ(file.used(), 0U);
    all.clear();
  }
  EXPECT_EQ(file.peak(), 210 * page);
  EXPECT_FALSE(file.was_full());
}

TEST(spill_file, a_folder_that_does_not_exist_is_an_error) {
  EXPECT_THROW(spill_file(::testing::TempDir() + "/missing"), std::system_error);
}

}  // namespace
}  // namespace gpulog::backend
