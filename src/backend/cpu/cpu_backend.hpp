#pragma once

#include <algorithm>
#include <bit>
#include <climits>
#include <cstdint>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "backend/primitives.hpp"
#include "support/long_vector.hpp"

/// The backend primitives on a CPU, on top of a launcher that runs blocks serially or on oneTBB's workers.
namespace gpulog::backend::cpu {

/// Cut-offs between serial and parallel execution: below these sizes, starting workers costs more than it gains.
struct cut_off {
  /// `bench/threads java_points_to_object`, 16 threads, mean of two runs: 2.30 s; 2.44 with 32,768 elements, 2.39 with
  /// 4,096, 2.32 with 2,048.
  static constexpr std::uint64_t elements_per_block = 1u << 13;
  static constexpr std::uint64_t comparison_sort = 96;
  static constexpr unsigned digit_bits = 8;
  /// A serial sort uses wider digits, of at most `most_digit_bits` bits and with at least `keys_of_digit` keys per
  /// digit value: fewer passes, but wider digits cost more cache misses in the count table. With 1 key per value,
  /// sorting 65,536 32-bit keys took 1.4 times as long as with 8-bit digits; 16 and 64 keys gain less at 2^21 keys
  /// (`bench_primitives --benchmark_filter=radix_sort`).
  static constexpr std::uint64_t keys_of_digit = 4;
  static constexpr unsigned most_digit_bits = 18;
  /// Buckets of the first digit that a worker sorts at a time: several, because most are small. No other value was
  /// tried
  /// (`bench/threads`).
  static constexpr std::uint64_t buckets_together = 4;
  static constexpr std::uint64_t merge_per_block = 1u << 14;
};

template <class Launcher>
class cpu_backend {
 public:
  template <class... Arguments>
  explicit cpu_backend(Arguments&&... arguments) : launcher_(std::forward<Arguments>(arguments)...) {}

  [[nodiscard]] unsigned workers() const { return launcher_.workers(); }

  template <class Function>
  void for_each(std::uint64_t n, Function function) {
    for_each_tile(n, cut_off::elements_per_block, [&function](unsigned, std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i) function(i);
    });
  }

  /// @param most_workers the maximum number of workers; the participating workers have the lowest numbers
  template <class Function>
  void for_each_tile(std::uint64_t n, std::uint64_t tile, Function&& function, unsigned most_workers = UINT_MAX) {
    if (n == 0) return;
    const std::uint64_t blocks = (n + tile - 1) / tile;
    launcher_.run(
        blocks,
        [&](unsigned worker, std::uint64_t block) { function(worker, block * tile, std::min(n, (block + 1) * tile)); },
        most_workers);
  }

  using task_pool = typename Launcher::task_pool;
  /// @param most_workers the maximum number of workers, which have the lowest numbers
  [[nodiscard]] task_pool make_pool(unsigned most_workers) { return task_pool(launcher_, most_workers); }

  template <class Transform>
  [[nodiscard]] std::uint64_t reduce(std::uint64_t n, Transform transform) {
    long_vector<std::uint64_t> partial(block_count(n), 0);
    for_each_block(n, [&](std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
      std::uint64_t sum = 0;
      for (std::uint64_t i = begin; i < end; ++i) sum += transform(i);
      partial[block] = sum;
    });
    std::uint64_t total = 0;
    for (std::uint64_t sum : partial) total += sum;
    return total;
  }

  template <class Transform, class Sum>
  std::uint64_t exclusive_scan(std::uint64_t n, Transform transform, Sum* sums) {
    long_vector<std::uint64_t> partial(block_count(n), 0);
    if (partial.size() > 1) {
      for_each_block(n, [&](std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
        std::uint64_t sum = 0;
        for (std::uint64_t i = begin; i < end; ++i) sum += transform(i);
        partial[block] = sum;
      });
    }
    std::uint64_t running = 0;
    for (std::uint64_t& sum : partial) running += std::exchange(sum, running);
    std::uint64_t total = running;
    for_each_block(n, [&](std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
      std::uint64_t sum = partial[block];
      for (std::uint64_t i = begin; i < end; ++i) {
        const std::uint64_t value = transform(i);  // read first: transform may read sums[i]
        sums[i] = static_cast<Sum>(sum);
        sum += value;
      }
      if (end == n) total = sum;
    });
    sums[n] = static_cast<Sum>(total);
    return total;
  }

  /// A single worker sorts by the least significant digit first. Several workers first distribute the keys by the most
  /// significant digit and then sort the buckets independently (three steps that wait for all workers, whatever the
  /// number of digits), unless a bucket is so large that the last worker would take twice its share of the time.
  [[nodiscard]] std::uint64_t* radix_sort(std::uint64_t* keys, std::uint64_t* scratch, std::uint64_t n,
                                          unsigned first_bit, unsigned last_bit) {
    const std::uint64_t blocks = n <= cut_off::comparison_sort ? 1 : block_count(n);
    if (blocks > 1 && last_bit - first_bit > cut_off::digit_bits) {
      if (std::uint64_t* const sorted = sort_buckets(keys, scratch, n, first_bit, last_bit)) return sorted;
    }
    return sort_digits(keys, scratch, n, {first_bit, last_bit}, blocks);
  }

  /// Path merge (Green, McColl, Bader 2012): each block finds its start on the merge path by binary search over a cross
  /// diagonal.
  template <class T, class Less>
  void merge(const T* a, std::uint64_t a_size, const T* b, std::uint64_t b_size, T* out, Less less) {
    for_each_tile(a_size + b_size, cut_off::merge_per_block, [&](unsigned, std::uint64_t begin, std::uint64_t end) {
      std::uint64_t i = path_split(a, a_size, b, b_size, begin, less);
      std::uint64_t j = begin - i;
      for (std::uint64_t k = begin; k < end; ++k) {
        const bool take_b = i == a_size || (j < b_size && less(b[j], a[i]));
        out[k] = take_b ? b[j++] : a[i++];
      }
    });
  }

  template <class Predicate, class Position>
  std::uint64_t select_if(std::uint64_t n, Predicate predicate, Position* selected) {
    long_vector<std::uint64_t> partial(block_count(n), 0);
    for_each_block(n, [&](std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
      std::uint64_t count = 0;
      for (std::uint64_t i = begin; i < end; ++i) count += predicate(i) ? 1 : 0;
      partial[block] = count;
    });
    std::uint64_t total = 0;
    for (std::uint64_t& count : partial) total += std::exchange(count, total);
    for_each_block(n, [&](std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
      std::uint64_t next = partial[block];
      for (std::uint64_t i = begin; i < end; ++i) {
        if (predicate(i)) selected[next++] = static_cast<Position>(i);
      }
    });
    return total;
  }

  template <class T, class Position>
  void gather(const T* in, const Position* positions, std::uint64_t n, T* out) {
    for_each(n, [=](std::uint64_t i) { out[i] = in[positions[i]]; });
  }

  template <class T>
  void fill(T* out, std::uint64_t n, T value) {
    for_each_tile(n, cut_off::elements_per_block,
                  [=](unsigned, std::uint64_t begin, std::uint64_t end) { std::fill(out + begin, out + end, value); });
  }

  template <class T>
  void copy(const T* in, std::uint64_t n, T* out) {
    for_each_tile(n, cut_off::elements_per_block, [=](unsigned, std::uint64_t begin, std::uint64_t end) {
      std::memmove(out + begin, in + begin, static_cast<std::size_t>(end - begin) * sizeof(T));
    });
  }

  void synchronize() {}

 private:
  // Two-pass operations need the same blocks in both passes, and only a few blocks, because partial results are
  // combined serially.
  [[nodiscard]] std::uint64_t block_count(std::uint64_t n) const {
    const std::uint64_t wanted = (n + cut_off::elements_per_block - 1) / cut_off::elements_per_block;
    return std::clamp<std::uint64_t>(wanted, 1, workers() == 1 ? 1 : workers() * 4ULL);
  }

  /// Returns the digit width for a sort by `bits` bits: equal digits, as few passes as possible.
  [[nodiscard]] static unsigned digit_bits_of(std::uint64_t n, std::uint64_t blocks, unsigned bits) {
    if (blocks > 1 || bits == 0) return cut_off::digit_bits;
    const auto wanted = static_cast<unsigned>(std::bit_width(n / cut_off::keys_of_digit));
    const unsigned most = std::clamp(wanted, cut_off::digit_bits + 1, cut_off::most_digit_bits + 1) - 1;
    const unsigned passes = (bits + most - 1) / most;
    return (bits + passes - 1) / passes;
  }

  struct bit_range {
    unsigned first;
    unsigned last;
  };

  /// Sorts least significant digit first, usually 8 bits per pass; skips a pass if all keys share the digit.
  /// @param blocks number of blocks into which the workers divide the keys; 1: the calling thread sorts
  [[nodiscard]] std::uint64_t* sort_digits(std::uint64_t* keys, std::uint64_t* scratch, std::uint64_t n, bit_range bits,
                                           std::uint64_t blocks) {
    if (n < 2) return keys;
    if (n <= cut_off::comparison_sort) {
      const std::uint64_t mask = bits.last - bits.first >= 64 ? ~0ULL : (1ULL << (bits.last - bits.first)) - 1;
      std::stable_sort(keys, keys + n, [=](std::uint64_t a, std::uint64_t b) {
        return ((a >> bits.first) & mask) < ((b >> bits.first) & mask);
      });
      return keys;
    }
    const unsigned digit_bits = digit_bits_of(n, blocks, bits.last - bits.first);
    const std::uint64_t buckets = 1ULL << digit_bits;
    long_vector<std::uint64_t> counts(blocks * buckets);
    for (unsigned shift = bits.first; shift < bits.last; shift += digit_bits) {
      const std::uint64_t mask = bits.last - shift >= digit_bits ? buckets - 1 : (1ULL << (bits.last - shift)) - 1;
      count_digits(keys, n, shift, mask, counts, blocks);
      if (start_digits(counts, blocks) == n) continue;
      move_by_digit(keys, scratch, n, shift, mask, counts, blocks);
      std::swap(keys, scratch);
    }
    return keys;
  }

  /// Distributes keys by their most significant digit and sorts the buckets independently.
  /// @return the sorted keys; nullptr, with unchanged keys, if a bucket is too large for workers to share the work
  [[nodiscard]] std::uint64_t* sort_buckets(std::uint64_t* keys, std::uint64_t* scratch, std::uint64_t n,
                                            unsigned first_bit, unsigned last_bit) {
    const unsigned shift = last_bit - cut_off::digit_bits;
    constexpr std::uint64_t buckets = 1ULL << cut_off::digit_bits;
    const std::uint64_t blocks = block_count(n);
    long_vector<std::uint64_t> counts(blocks * buckets);
    count_digits(keys, n, shift, buckets - 1, counts, blocks);
    if (start_digits(counts, blocks) > 2 * n / (workers() + 2)) return nullptr;
    // Before the keys move, the first block's places are the starts of the buckets.
    long_vector<std::uint64_t> starts(counts.begin(), counts.begin() + buckets);
    starts.push_back(n);
    move_by_digit(keys, scratch, n, shift, buckets - 1, counts, blocks);
    launcher_.run(buckets / cut_off::buckets_together, [&](unsigned, std::uint64_t group) {
      for (std::uint64_t i = 0; i < cut_off::buckets_together; ++i) {
        const std::uint64_t begin = starts[group * cut_off::buckets_together + i];
        const std::uint64_t size = starts[group * cut_off::buckets_together + i + 1] - begin;
        const std::uint64_t* const sorted = sort_digits(scratch + begin, keys + begin, size, {first_bit, shift}, 1);
        if (sorted != scratch + begin) std::copy_n(sorted, size, scratch + begin);
      }
    });
    return scratch;
  }

  /// Counts the keys of each block by digit, the bits of `mask` from `shift` on.
  void count_digits(const std::uint64_t* keys, std::uint64_t n, unsigned shift, std::uint64_t mask,
                    long_vector<std::uint64_t>& counts, std::uint64_t blocks) {
    std::fill(counts.begin(), counts.end(), 0);
    const std::uint64_t buckets = counts.size() / blocks;
    for_each_of(blocks, n, [&](std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
      std::uint64_t* count = counts.data() + block * buckets;
      for (std::uint64_t i = begin; i < end; ++i) ++count[(keys[i] >> shift) & mask];
    });
  }

  /// Replaces counts by the places of the first keys of each digit and block.
  /// @return the largest number of keys that share a digit
  static std::uint64_t start_digits(long_vector<std::uint64_t>& counts, std::uint64_t blocks) {
    const std::uint64_t buckets = counts.size() / blocks;
    std::uint64_t running = 0;
    std::uint64_t most = 0;
    for (std::uint64_t bucket = 0; bucket < buckets; ++bucket) {
      const std::uint64_t before = running;
      for (std::uint64_t block = 0; block < blocks; ++block)
        running += std::exchange(counts[block * buckets + bucket], running);
      most = std::max(most, running - before);
    }
    return most;
  }

  /// Moves keys to their places, which advance.
  void move_by_digit(const std::uint64_t* keys, std::uint64_t* moved, std::uint64_t n, unsigned shift,
                     std::uint64_t mask, long_vector<std::uint64_t>& places, std::uint64_t blocks) {
    const std::uint64_t buckets = places.size() / blocks;
    for_each_of(blocks, n, [&](std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
      std::uint64_t* next = places.data() + block * buckets;
      for (std::uint64_t i = begin; i < end; ++i) moved[next[(keys[i] >> shift) & mask]++] = keys[i];
    });
  }

  template <class Function>
  void for_each_block(std::uint64_t n, Function&& function) {
    for_each_of(block_count(n), n, function);
  }

  /// Calls function(block, begin, end) for each of the blocks of n elements.
  template <class Function>
  void for_each_of(std::uint64_t blocks, std::uint64_t n, const Function& function) {
    launcher_.run(
        blocks, [&](unsigned, std::uint64_t block) { function(block, n * block / blocks, n * (block + 1) / blocks); });
  }

  template <class T, class Less>
  static std::uint64_t path_split(const T* a, std::uint64_t a_size, const T* b, std::uint64_t b_size,
                                  std::uint64_t diagonal, Less less) {
    std::uint64_t low = diagonal > b_size ? diagonal - b_size : 0;
    std::uint64_t high = std::min(diagonal, a_size);
    while (low < high) {
      const std::uint64_t middle = (low + high) / 2;
      if (less(b[diagonal - 1 - middle], a[middle])) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  Launcher launcher_;
};

/// Runs blocks sequentially: the reference that tests compare with.
class serial_launcher {
 public:
  explicit serial_launcher(unsigned /*threads*/ = 1) {}
  [[nodiscard]] unsigned workers() const { return 1; }
  template <class Function>
  void run(std::uint64_t blocks, Function&& function, unsigned /*most_workers*/ = 1) {
    for (std::uint64_t block = 0; block < blocks; ++block) function(0U, block);
  }

  /// As tbb_launcher::task_pool.
  class task_pool {
   public:
    explicit task_pool(serial_launcher& /*launcher*/, unsigned /*most_workers*/ = 1) {}
    template <class Action>
    void run(const Action& action) {
      action(0U);
      while (!added_.empty()) {
        const std::function<void(unsigned)> next = std::move(added_.back());
        added_.pop_back();
        next(0U);
      }
    }
    template <class Action>
    void add(Action action) {
      added_.push_back(std::move(action));
    }

   private:
    std::vector<std::function<void(unsigned)>> added_;
  };
};

using serial_backend = cpu_backend<serial_launcher>;
static_assert(execution_backend<serial_backend>);

}  // namespace gpulog::backend::cpu
