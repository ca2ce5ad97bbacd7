// The primitives of every backend from one source, against what the standard library says, around the sizes of warps,
// sorting cut-offs and blocks.

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "backend/cpu/tbb_backend.hpp"
#include "oracle/random_runs.hpp"
#include "thread_launcher.hpp"

namespace gpulog::backend {
namespace {

struct serial {
  static cpu::serial_backend make() { return cpu::serial_backend{}; }
};
template <unsigned Threads>
struct tbb_workers {
  static cpu::tbb_backend make() { return cpu::tbb_backend(Threads); }
};

struct own_threads {
  static cpu::thread_backend make() { return cpu::thread_backend(3U); }
};

template <class Maker>
class primitives : public ::testing::Test {
 protected:
  // More workers than processors, as -j may ask for.
  tbb::global_control more_threads{tbb::global_control::max_allowed_parallelism, 4};
  decltype(Maker::make()) backend = Maker::make();
};

struct maker_names {
  template <class Maker>
  static std::string GetName(int number) {
    static const char* const names[] = {"serial", "own_threads", "tbb_1", "tbb_2", "tbb_4"};
    return names[number];
  }
};
using makers = ::testing::Types<serial, own_threads, tbb_workers<1>, tbb_workers<2>, tbb_workers<4>>;
TYPED_TEST_SUITE(primitives, makers, maker_names);

constexpr std::uint64_t block = cpu::cut_off::elements_per_block;
const std::vector<std::uint64_t> sizes =
    oracle::is_sanitized
        ? std::vector<std::uint64_t>{0, 1, 33, 97, block + 1}
        : std::vector<std::uint64_t>{0, 1, 31, 32, 33, 96, 97, 1000, block - 1, block, block + 1, 5 * block + 77};

std::vector<std::uint64_t> random_words(std::uint64_t n, std::uint64_t mask, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> words(n);
  for (auto& word : words) word = random() & mask;
  return words;
}

TYPED_TEST(primitives, for_each_visits_every_number_once) {
  for (const std::uint64_t n : sizes) {
    std::vector<std::uint8_t> visits(n);
    std::uint8_t* const out = visits.data();
    this->backend.for_each(n, [out](std::uint64_t i) { ++out[i]; });
    EXPECT_EQ(std::count(visits.begin(), visits.end(), 1), static_cast<std::ptrdiff_t>(n)) << n;
  }
}

TYPED_TEST(primitives, no_more_workers_take_part_than_are_worth_it) {
  for (unsigned most = 1; most <= 5; ++most) {
    for (const std::uint64_t n : {0U, 1U, 2U, 3U, 5U, 100U}) {
      std::vector<std::atomic<int>> visits(n);
      std::atomic<unsigned> largest = 0;
      const auto count = [&](unsigned worker, std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t i = begin; i < end; ++i) ++visits[i];
        for (unsigned seen = largest; seen < worker && !largest.compare_exchange_weak(seen, worker);) {
        }
      };
      this->backend.for_each_tile(n, 1, count, most);
      EXPECT_LT(largest, most) << n;
      this->backend.for_each_tile(
          2, 1, [&](unsigned, std::uint64_t, std::uint64_t) { this->backend.for_each_tile(n, 1, count, most); }, most);
      EXPECT_LT(largest, most) << n;
      EXPECT_EQ(std::count(visits.begin(), visits.end(), 3), static_cast<std::ptrdiff_t>(n)) << most;
    }
  }
}

TYPED_TEST(primitives, tiles_cover_the_range_and_no_worker_has_two_at_a_time) {
  for (const std::uint64_t n : sizes) {
    for (const std::uint64_t tile : {std::uint64_t{1}, std::uint64_t{33}, std::uint64_t{512}, block}) {
      if (n / tile > 10000) continue;
      std::vector<std::uint8_t> visits(n);
      std::vector<std::atomic<int>> busy(this->backend.workers());
      std::atomic<bool> wrong = false;
      this->backend.for_each_tile(n, tile, [&](unsigned worker, std::uint64_t begin, std::uint64_t end) {
        if (worker >= busy.size() || begin >= end || end - begin > tile || end > n) {
          wrong = true;
          return;
        }
        if (busy[worker].fetch_add(1) != 0) wrong = true;
        for (std::uint64_t i = begin; i < end; ++i) ++visits[i];
        busy[worker].fetch_sub(1);
      });
      EXPECT_FALSE(wrong) << n << " in tiles of " << tile;
      EXPECT_EQ(std::count(visits.begin(), visits.end(), 1), static_cast<std::ptrdiff_t>(n)) << n << ", " << tile;
    }
  }
}

TYPED_TEST(primitives, work_started_inside_of_work_is_done) {
  std::atomic<std::uint64_t> sum = 0;
  this->backend.for_each_tile(8, 1, [&](unsigned, std::uint64_t, std::uint64_t) {
    this->backend.for_each_tile(3 * block, block,
                                [&](unsigned, std::uint64_t begin, std::uint64_t end) { sum += end - begin; });
  });
  EXPECT_EQ(sum, 8 * 3 * block);
}

TYPED_TEST(primitives, an_exception_reaches_the_caller_and_the_backend_works_on) {
  const auto fail = [](unsigned, std::uint64_t begin, std::uint64_t) {
    if (begin == 700) throw std::runtime_error("fault");
  };
  EXPECT_THROW(this->backend.for_each_tile(1000, 1, fail), std::runtime_error);
  EXPECT_EQ(this->backend.reduce(5 * block, [](std::uint64_t) { return std::uint64_t{1}; }), 5 * block);
}

/// A binary tree of actions: each adds two of the next level.
template <class Pool>
void visit_tree(Pool& pool, unsigned level, std::atomic<unsigned>& visited) {
  ++visited;
  if (level == 0) return;
  for (int child = 0; child < 2; ++child)
    pool.add([&pool, level, &visited](unsigned) { visit_tree(pool, level - 1, visited); });
}

TYPED_TEST(primitives, a_pool_runs_the_actions_that_actions_add) {
  const unsigned workers = this->backend.workers();
  auto pool = this->backend.make_pool(workers);
  std::atomic<unsigned> visited = 0;
  std::atomic<bool> is_numbered = true;
  pool.run([&](unsigned worker) {
    if (worker >= workers) is_numbered = false;
    visit_tree(pool, 9, visited);
  });
  EXPECT_EQ(visited, 1023U);
  EXPECT_TRUE(is_numbered);
}

TYPED_TEST(primitives, a_pool_passes_on_an_exception_of_an_action) {
  auto pool = this->backend.make_pool(this->backend.workers());
  std::atomic<unsigned> done = 0;
  const auto fail = [&](unsigned) {
    pool.add([](unsigned) { throw std::runtime_error("in a pool"); });
    ++done;
  };
  EXPECT_THROW(pool.run(fail), std::runtime_error);
  EXPECT_EQ(done, 1U);
}

TYPED_TEST(primitives, reduce_sums) {
  for (const std::uint64_t n : sizes) {
    const auto words = random_words(n, ~0ULL, n + 1);
    const std::uint64_t* const in = words.data();
    EXPECT_EQ(this->backend.reduce(n, [in](std::uint64_t i) { return in[i]; }),
              std::accumulate(words.begin(), words.end(), std::uint64_t{0}))
        << n;
  }
}

TYPED_TEST(primitives, exclusive_scan_sums_what_stands_before) {
  for (const std::uint64_t n : sizes) {
    const auto words = random_words(n, 0xffff, n + 2);
    std::vector<std::uint64_t> expected(n + 1);
    std::partial_sum(words.begin(), words.end(), expected.begin() + 1);
    const std::uint64_t* const in = words.data();
    std::vector<std::uint64_t> sums(n + 1, 99);
    EXPECT_EQ(this->backend.exclusive_scan(
                  n, [in](std::uint64_t i) { return in[i]; }, sums.data()),
              expected[n]);
    EXPECT_EQ(sums, expected) << n;
  }
}

TYPED_TEST(primitives, exclusive_scan_may_write_over_what_it_reads) {
  for (const std::uint64_t n : sizes) {
    auto words = random_words(n, 0xff, n + 3);
    std::vector<std::uint64_t> expected(n + 1);
    std::partial_sum(words.begin(), words.end(), expected.begin() + 1);
    words.push_back(0);
    std::uint64_t* const in_place = words.data();
    this->backend.exclusive_scan(
        n, [in_place](std::uint64_t i) { return in_place[i]; }, in_place);
    EXPECT_EQ(words, expected) << n;
  }
}

TYPED_TEST(primitives, radix_sort_is_a_stable_sort_by_the_given_bits) {
  struct bits {
    unsigned first, last;
  };
  for (const std::uint64_t n : sizes) {
    for (const bits by : {bits{0, 64}, bits{32, 64}, bits{32, 32}, bits{32, 33}, bits{5, 17}, bits{0, 8}}) {
      for (const std::uint64_t mask : {~0ULL, 0x0000000fffffffffULL, 0ULL}) {
        auto keys = random_words(n, mask, n + by.first);
        auto expected = keys;
        const std::uint64_t in_use = by.last - by.first == 64 ? ~0ULL : ((1ULL << (by.last - by.first)) - 1);
        std::stable_sort(expected.begin(), expected.end(), [=](std::uint64_t a, std::uint64_t b) {
          return ((a >> by.first) & in_use) < ((b >> by.first) & in_use);
        });
        std::vector<std::uint64_t> scratch(n);
        const std::uint64_t* const sorted = this->backend.radix_sort(keys.data(), scratch.data(), n, by.first, by.last);
        ASSERT_TRUE(sorted == keys.data() || sorted == scratch.data());
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), sorted))
            << n << " keys, bits " << by.first << " to " << by.last;
      }
    }
  }
}

TYPED_TEST(primitives, merge_is_stable_and_takes_the_first_range_first_release_only) {
  using item = std::pair<std::uint32_t, std::uint32_t>;  // key, where it came from
  const auto less = [](const item& a, const item& b) { return a.first < b.first; };
  std::vector<std::uint64_t> merge_sizes = {0, 1, 33, 2 * cpu::cut_off::merge_per_block + 5};
  if (!oracle::is_sanitized) merge_sizes.insert(merge_sizes.end(), {31, 32, 2000});
  for (const std::uint64_t a_size : merge_sizes) {
    for (const std::uint64_t b_size : merge_sizes) {
      for (const std::uint64_t keys : {1, 7, 1000000}) {
        std::mt19937_64 random(a_size + 3 * b_size + keys);
        std::vector<item> a(a_size);
        std::vector<item> b(b_size);
        for (auto& one : a) one.first = static_cast<std::uint32_t>(random() % keys);
        for (auto& one : b) one.first = static_cast<std::uint32_t>(random() % keys);
        std::sort(a.begin(), a.end());
        std::sort(b.begin(), b.end());
        for (std::uint32_t i = 0; i < a.size(); ++i) a[i].second = i;
        for (std::uint32_t i = 0; i < b.size(); ++i) b[i].second = 1000000 + i;
        std::vector<item> expected(a_size + b_size);
        std::merge(a.begin(), a.end(), b.begin(), b.end(), expected.begin(), less);
        std::vector<item> merged(a_size + b_size);
        this->backend.merge(a.data(), a_size, b.data(), b_size, merged.data(), less);
        EXPECT_EQ(merged, expected) << a_size << " and " << b_size << " of " << keys << " keys";
      }
    }
  }
}

TYPED_TEST(primitives, select_if_gives_ascending_numbers) {
  for (const std::uint64_t n : sizes) {
    for (const std::uint64_t kept_of_8 : {0, 1, 8}) {
      const auto words = random_words(n, 7, n + 5);
      const std::uint64_t* const in = words.data();
      std::vector<std::uint32_t> expected;
      for (std::uint32_t i = 0; i < n; ++i) {
        if (words[i] < kept_of_8) expected.push_back(i);
      }
      std::vector<std::uint32_t> selected(n);
      const std::uint64_t count = this->backend.select_if(
          n, [in, kept_of_8](std::uint64_t i) { return in[i] < kept_of_8; }, selected.data());
      selected.resize(count);
      EXPECT_EQ(selected, expected) << n;
    }
  }
}

TYPED_TEST(primitives, gather_fill_and_copy) {
  for (const std::uint64_t n : sizes) {
    const auto words = random_words(n, ~0ULL, n + 6);
    std::vector<std::uint32_t> positions(n);
    std::iota(positions.begin(), positions.end(), 0U);
    std::shuffle(positions.begin(), positions.end(), std::mt19937_64(n));
    std::vector<std::uint64_t> gathered(n);
    this->backend.gather(words.data(), positions.data(), n, gathered.data());
    for (std::uint64_t i = 0; i < n; ++i) ASSERT_EQ(gathered[i], words[positions[i]]);

    std::vector<std::uint64_t> copied(n + 1, 4711);
    this->backend.copy(words.data(), n, copied.data());
    EXPECT_TRUE(std::equal(words.begin(), words.end(), copied.begin()));
    EXPECT_EQ(copied[n], 4711U) << "written behind the end";

    std::vector<std::uint32_t> filled(n + 1, 5);
    this->backend.fill(filled.data(), n, std::uint32_t{7});
    EXPECT_EQ(std::count(filled.begin(), filled.end(), 7U), static_cast<std::ptrdiff_t>(n));
    EXPECT_EQ(filled[n], 5U) << "written behind the end";
    this->backend.synchronize();
  }
}

}  // namespace
}  // namespace gpulog::backend
