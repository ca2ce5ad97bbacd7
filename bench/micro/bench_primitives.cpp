// The primitives of the backend. Arguments: elements, workers, and the argument in the benchmark's name.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "backend/cpu/tbb_backend.hpp"

namespace {

using gpulog::backend::cpu::tbb_backend;

std::vector<std::uint64_t> random_words(std::int64_t n, std::uint64_t mask = ~0ULL) {
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> words(static_cast<std::size_t>(n));
  for (auto& word : words) word = random() & mask;
  return words;
}

tbb_backend backend_of(const benchmark::State& state) { return tbb_backend(static_cast<unsigned>(state.range(1))); }

void count_items(benchmark::State& state) { state.SetItemsProcessed(state.iterations() * state.range(0)); }

/// Sorts words by `bits` bits from bit 32; the lower half of a word holds the row, as in an index.
void radix_sort(benchmark::State& state) {
  auto backend = backend_of(state);
  const auto bits = static_cast<unsigned>(state.range(2));
  const auto words = random_words(state.range(0));
  std::vector<std::uint64_t> keys(words.size());
  std::vector<std::uint64_t> scratch(words.size());
  for (auto _ : state) {
    state.PauseTiming();
    keys = words;
    state.ResumeTiming();
    benchmark::DoNotOptimize(backend.radix_sort(keys.data(), scratch.data(), keys.size(), 32, 32 + bits));
  }
  count_items(state);
}
BENCHMARK(radix_sort)
    ->ArgsProduct({{1 << 10, 1 << 16, 1 << 21, 1 << 24}, {1, 2}, {16, 18, 32}})
    ->ArgNames({"n", "workers", "bits"})
    ->UseRealTime();

void merge(benchmark::State& state) {
  auto backend = backend_of(state);
  auto words = random_words(state.range(0));
  const auto middle = static_cast<std::ptrdiff_t>(words.size() / static_cast<std::size_t>(state.range(2)));
  std::sort(words.begin(), words.begin() + middle);
  std::sort(words.begin() + middle, words.end());
  std::vector<std::uint64_t> merged(words.size());
  const auto less = [](std::uint64_t a, std::uint64_t b) { return a < b; };
  for (auto _ : state) {
    backend.merge(words.data(), static_cast<std::uint64_t>(middle), words.data() + middle,
                  words.size() - static_cast<std::uint64_t>(middle), merged.data(), less);
    benchmark::DoNotOptimize(merged.data());
  }
  count_items(state);
}
BENCHMARK(merge)
    ->ArgsProduct({{1 << 16, 1 << 22}, {1, 2}, {2, 20}})
    ->ArgNames({"n", "workers", "one_part_of"})
    ->UseRealTime();

void exclusive_scan(benchmark::State& state) {
  auto backend = backend_of(state);
  const auto words = random_words(state.range(0));
  std::vector<std::uint64_t> sums(words.size() + 1);
  const std::uint64_t* const in = words.data();
  for (auto _ : state) {
    benchmark::DoNotOptimize(backend.exclusive_scan(
        words.size(), [in](std::uint64_t i) { return in[i]; }, sums.data()));
  }
  count_items(state);
}
BENCHMARK(exclusive_scan)->ArgsProduct({{1 << 16, 1 << 22}, {1, 2}})->ArgNames({"n", "workers"})->UseRealTime();

void select_if(benchmark::State& state) {
  auto backend = backend_of(state);
  const auto words = random_words(state.range(0));
  std::vector<std::uint32_t> selected(words.size());
  const std::uint64_t* const in = words.data();
  const auto percent = static_cast<std::uint64_t>(state.range(2));
  for (auto _ : state) {
    benchmark::DoNotOptimize(backend.select_if(
        words.size(), [in, percent](std::uint64_t i) { return in[i] % 100 < percent; }, selected.data()));
  }
  count_items(state);
}
BENCHMARK(select_if)
    ->ArgsProduct({{1 << 22}, {1, 2}, {1, 50, 99}})
    ->ArgNames({"n", "workers", "percent"})
    ->UseRealTime();

void gather(benchmark::State& state) {
  auto backend = backend_of(state);
  const auto words = random_words(state.range(0));
  std::vector<std::uint32_t> positions(words.size());
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<std::uint32_t>(i);
  if (state.range(2) != 0) std::shuffle(positions.begin(), positions.end(), std::mt19937_64(2));
  std::vector<std::uint64_t> gathered(words.size());
  for (auto _ : state) {
    backend.gather(words.data(), positions.data(), words.size(), gathered.data());
    benchmark::DoNotOptimize(gathered.data());
  }
  count_items(state);
}
BENCHMARK(gather)
    ->ArgsProduct({{1 << 16, 1 << 22}, {1, 2}, {0, 1}})
    ->ArgNames({"n", "workers", "shuffled"})
    ->UseRealTime();

}  // namespace
