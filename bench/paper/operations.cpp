// Sorts, merges and allocates pairs of words, as in table 6 of the article. Prints a line of JSON.
//
//   bench_operations cpu|gpu PAIRS [WORKERS]

#include "operations.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <thread>

#include "backend/array.hpp"
#include "backend/cpu/tbb_backend.hpp"
#include "storage/sets/hash.hpp"

namespace {

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

operation_times measure_on_cpu(std::uint64_t n, unsigned workers, double most_seconds) {
  gpulog::backend::cpu::tbb_backend backend(workers);
  gpulog::backend::host_memory memory;
  using words = gpulog::backend::array<std::uint64_t>;
  words source(memory, n);
  words keys(memory, n);
  words other(memory, n);
  words halves(memory, n);
  std::uint64_t* const from = source.data();
  backend.for_each(n, [from](std::uint64_t i) { from[i] = gpulog::storage::mix(i + 1); });
  const auto sort_range = [&](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t* const part = keys.data() + begin;
    backend.copy(from + begin, end - begin, part);
    const std::uint64_t* const sorted = backend.radix_sort(part, other.data(), end - begin, 0U, 64U);
    backend.copy(sorted, end - begin, halves.data() + begin);
  };
  sort_range(0, n / 2);
  sort_range(n / 2, n);

  operation_times times;
  const double start = seconds_now();
  while (times.runs < 100 && (times.runs == 0 || seconds_now() - start < most_seconds)) {
    ++times.runs;
    backend.copy(from, n, keys.data());
    double before = seconds_now();
    static_cast<void>(backend.radix_sort(keys.data(), other.data(), n, 0U, 64U));
    times.sort += seconds_now() - before;
    before = seconds_now();
    backend.merge(halves.data(), n / 2, halves.data() + n / 2, n - n / 2, keys.data(),
                  [](std::uint64_t a, std::uint64_t b) { return a < b; });
    times.merge += seconds_now() - before;
    before = seconds_now();
    words buffer(memory, n);
    backend.fill(buffer.data(), n, std::uint64_t{1});
    times.allocation += seconds_now() - before;
  }
  return times;
}

int main(int count, char** texts) {
  if (count < 3) {
    std::fprintf(stderr, "bench_operations cpu|gpu PAIRS [WORKERS]\n");
    return 1;
  }
  constexpr double most_seconds = 2;
  const std::uint64_t pairs = std::strtoull(texts[2], nullptr, 10);
  const unsigned all = std::max(1U, std::thread::hardware_concurrency());
  const auto workers = count > 3 ? static_cast<unsigned>(std::strtoul(texts[3], nullptr, 10)) : all;
  try {
    operation_times times;
    if (std::strcmp(texts[1], "cpu") == 0) {
      times = measure_on_cpu(pairs, workers, most_seconds);
    } else {
#if defined(GPULOG_WITH_GPU)
      times = measure_on_gpu(pairs, most_seconds);
#else
      std::fprintf(stderr, "built without CUDA, whose merge it compares with\n");
      return 1;
#endif
    }
    std::printf(
        "{\"backend\": \"%s\", \"pairs\": %llu, \"workers\": %u, \"runs\": %d, \"sort\": %.6f, \"merge\": %.6f, "
        "\"merge_by_rank\": %.6f, \"allocation\": %.6f}\n",
        texts[1], static_cast<unsigned long long>(pairs), workers, times.runs, times.sort, times.merge,
        times.merge_by_rank, times.allocation);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
  return 0;
}
