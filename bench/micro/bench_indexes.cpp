// Builds and updates indexes. Arguments: rows, and rows per key; an item is a row of the relation.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <vector>

#include "backend/cpu/cpu_backend.hpp"
#include "storage/indexes/sorted_index.hpp"

namespace {

using gpulog::word;
namespace storage = gpulog::storage;
using gpulog::backend::host_memory;
using gpulog::backend::cpu::serial_backend;

struct columns {
  std::vector<word> key, payload;
  columns(std::int64_t rows, std::int64_t rows_a_key, bool sparse) {
    std::mt19937_64 random(1);
    const auto keys = static_cast<std::uint64_t>(rows / rows_a_key + 1);
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto chosen = static_cast<word>(random() % keys);
      key.push_back(sparse ? chosen * 2654435761U : chosen);
      payload.push_back(static_cast<word>(row));
    }
  }
  [[nodiscard]] storage::column_pointers pointers() const { return {key.data(), payload.data()}; }
};

storage::index_layout layout_of(bool published) {
  if (published) return {{0}, {1}, {}, true, 0.8};
  return {{0}, {1}, {1}, false, 0.5};
}

/// @tparam Sparse whether the keys need a hash table; dense keys are looked up by number
template <bool Published, bool Sparse>
void build(benchmark::State& state) {
  const columns data(state.range(0), state.range(1), Sparse);
  serial_backend backend;
  for (auto _ : state) {
    host_memory memory;
    storage::sorted_index index(memory, layout_of(Published), {});
    index.refresh(backend, data.pointers(), data.key.size(), data.key.size());
    state.counters["bytes_a_row"] = static_cast<double>(index.bytes()) / static_cast<double>(data.key.size());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
const std::vector<std::vector<std::int64_t>> axes = {{1 << 10, 1 << 16, 1 << 22}, {1, 8, 1000}};
BENCHMARK(build<false, false>)->ArgsProduct(axes)->ArgNames({"rows", "rows_a_key"});
BENCHMARK(build<false, true>)->ArgsProduct(axes)->ArgNames({"rows", "rows_a_key"});
BENCHMARK(build<true, true>)->ArgsProduct(axes)->ArgNames({"rows", "rows_a_key"});

/// A fixpoint of `iterations` iterations that each add the same number of rows: geometric runs, compared with one full
/// run.
template <bool Published>
void refresh(benchmark::State& state) {
  const columns data(state.range(0), 8, true);
  const auto rows = static_cast<std::uint64_t>(state.range(0));
  const auto iterations = static_cast<std::uint64_t>(state.range(1));
  serial_backend backend;
  for (auto _ : state) {
    host_memory memory;
    storage::sorted_index index(memory, layout_of(Published), {});
    for (std::uint64_t i = 0; i < iterations; ++i) {
      index.refresh(backend, data.pointers(), rows * i / iterations, rows * (i + 1) / iterations);
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(refresh<false>)->ArgsProduct({{1 << 16, 1 << 20}, {10, 300}})->ArgNames({"rows", "iterations"});
BENCHMARK(refresh<true>)->ArgsProduct({{1 << 16, 1 << 20}, {10, 300}})->ArgNames({"rows", "iterations"});

}  // namespace
