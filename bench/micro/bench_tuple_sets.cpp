// Inserts candidates into tuple sets. Arguments: distinct tuples, and occurrences of each tuple; an item is a
// candidate. "dense" tuples are pairs of neighbouring numbers, as in graphs.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "backend/cpu/cpu_backend.hpp"
#include "storage/relation/relation.hpp"

namespace {

using gpulog::word;
namespace storage = gpulog::storage;
using gpulog::backend::host_memory;
using gpulog::backend::cpu::serial_backend;

/// Returns candidates in random order.
std::vector<std::uint64_t> candidates(std::int64_t distinct, std::int64_t repeats, bool dense) {
  const auto n = static_cast<std::uint64_t>(distinct);
  std::vector<std::uint64_t> keys;
  keys.reserve(n * static_cast<std::uint64_t>(repeats));
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t key =
        dense ? storage::pack(static_cast<word>(i >> 10), static_cast<word>(i & 1023)) + 1 : storage::mix(i + 1);
    for (std::int64_t k = 0; k < repeats; ++k) keys.push_back(key);
  }
  std::shuffle(keys.begin(), keys.end(), std::mt19937_64(1));
  return keys;
}

const std::vector<std::vector<std::int64_t>> axes = {{1 << 14, 1 << 20, 1 << 24}, {1, 2, 8}};

template <class Access, bool Dense>
void packed_insert(benchmark::State& state) {
  const auto keys = candidates(state.range(0), state.range(1), Dense);
  const auto scratch = std::make_unique<storage::insert_scratch>();
  for (auto _ : state) {
    host_memory memory;
    storage::packed_set set(memory);
    for (std::size_t begin = 0; begin < keys.size(); begin += storage::tile_rows) {
      const auto n = static_cast<std::uint32_t>(std::min<std::size_t>(storage::tile_rows, keys.size() - begin));
      std::copy_n(keys.data() + begin, n, scratch->keys);
      if (!set.has_room(n)) set.grow(n);
      benchmark::DoNotOptimize(set.insert<Access>(scratch->keys, n, scratch->homes));
    }
    state.counters["bytes_a_tuple"] = static_cast<double>(set.bytes()) / static_cast<double>(set.size());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(keys.size()));
}
BENCHMARK(packed_insert<storage::exclusive_access, false>)->ArgsProduct(axes)->ArgNames({"distinct", "repeats"});
BENCHMARK(packed_insert<storage::exclusive_access, true>)->ArgsProduct(axes)->ArgNames({"distinct", "repeats"});
BENCHMARK(packed_insert<storage::concurrent_access, false>)->ArgsProduct(axes)->ArgNames({"distinct", "repeats"});

/// Probes a set of fixed size at a given load factor.
void packed_insert_at_load(benchmark::State& state) {
  constexpr std::int64_t capacity = 1 << 22;
  const auto keys = candidates(capacity * state.range(0) / 100, 1, false);
  const auto scratch = std::make_unique<storage::insert_scratch>();
  host_memory memory;
  storage::packed_set set(memory);
  set.grow(storage::table_growth::limit(capacity));
  const auto insert_all = [&] {
    for (std::size_t begin = 0; begin < keys.size(); begin += storage::tile_rows) {
      const auto n = static_cast<std::uint32_t>(std::min<std::size_t>(storage::tile_rows, keys.size() - begin));
      std::copy_n(keys.data() + begin, n, scratch->keys);
      benchmark::DoNotOptimize(set.insert<storage::exclusive_access>(scratch->keys, n, scratch->homes));
    }
  };
  insert_all();
  for (auto _ : state) insert_all();  // all duplicates
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(keys.size()));
}
BENCHMARK(packed_insert_at_load)->Arg(10)->Arg(35)->Arg(50)->Arg(62)->ArgName("percent");

/// A relation of three columns: fingerprints and rows (`hash`), or sorting, deduplication and merging (`hisa`).
void wide_insert(benchmark::State& state, storage::storage_mode mode) {
  const auto keys = candidates(state.range(0), state.range(1), true);
  const auto scratch = std::make_unique<storage::insert_scratch>();
  std::vector<word> columns[3];
  for (const std::uint64_t key : keys) {
    columns[0].push_back(static_cast<word>(key >> 32));
    columns[1].push_back(static_cast<word>(key));
    columns[2].push_back(static_cast<word>(key) * 7);
  }
  serial_backend backend;
  for (auto _ : state) {
    host_memory memory;
    storage::relation_options options;
    options.mode = mode;
    storage::relation target(memory, 3, options);
    for (std::size_t begin = 0; begin < keys.size(); begin += storage::tile_rows) {
      const word* const values[] = {columns[0].data() + begin, columns[1].data() + begin, columns[2].data() + begin};
      while (!target.has_room()) target.make_room(backend);
      const auto n = static_cast<std::uint32_t>(std::min<std::size_t>(storage::tile_rows, keys.size() - begin));
      target.insert<storage::exclusive_access>(values, n, *scratch, 0);
    }
    target.settle(backend);
    target.complete();
    state.counters["peak_bytes_a_tuple"] = static_cast<double>(memory.peak()) / static_cast<double>(target.rows());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(keys.size()));
}
BENCHMARK_CAPTURE(wide_insert, hash, storage::storage_mode::hash)
    ->ArgsProduct({{1 << 14, 1 << 20}, {1, 8}})
    ->ArgNames({"distinct", "repeats"});
BENCHMARK_CAPTURE(wide_insert, hisa, storage::storage_mode::hisa)
    ->ArgsProduct({{1 << 14, 1 << 20}, {1, 8}})
    ->ArgNames({"distinct", "repeats"});

}  // namespace
