// The operations of backend/primitives.hpp on a device against the same on the host, around the sizes of waves, blocks
// and tiles.

#include <gtest/gtest.h>

#include "backend_results.hpp"
#include "random_on_device.hpp"

namespace gpulog::backend {
namespace {

using backend_on_gpu = exec::on_gpu;

TEST_F(backend_on_gpu, does_what_the_host_does) {
  for (const std::uint64_t n : {0, 1, 31, 32, 33, 63, 64, 65, 255, 256, 257, 1000, 5000}) {
    for (const auto& [first_bit, last_bit] : {std::pair(0U, 64U), std::pair(0U, 8U), std::pair(17U, 40U)}) {
      SCOPED_TRACE(std::to_string(n) + " words, by bits from " + std::to_string(first_bit));
      const backend_results expected = results_on_host(n, first_bit, last_bit);
      const backend_results found = results_on_device(n, first_bit, last_bit);
      EXPECT_EQ(found.visited, expected.visited);
      EXPECT_EQ(found.visited_by_tiles, expected.visited_by_tiles);
      EXPECT_EQ(found.sum, expected.sum);
      EXPECT_EQ(found.total, expected.total);
      EXPECT_EQ(found.scanned, expected.scanned);
      EXPECT_EQ(found.copied, expected.copied);
      EXPECT_EQ(found.sorted, expected.sorted);
      EXPECT_EQ(found.merged, expected.merged);
      EXPECT_EQ(found.selected, expected.selected);
      EXPECT_EQ(found.gathered, expected.gathered);
      EXPECT_EQ(found.filled, expected.filled);
    }
  }
}

}  // namespace
}  // namespace gpulog::backend
