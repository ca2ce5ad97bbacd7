// A rule with one match, `out(y) :- probe(x), data(x, y), y < 0`, with one worker; no candidate reaches the set.
// Arguments: keys, rows per key, percent of probes that find their key; an item is a probe with its matches.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <random>
#include <shared_mutex>
#include <vector>

#include "backend/cpu/cpu_backend.hpp"
#include "kernels/join/tile_runner.hpp"

namespace {

using gpulog::word;
namespace kernels = gpulog::kernels;
namespace storage = gpulog::storage;
using gpulog::backend::host_memory;
using gpulog::backend::cpu::serial_backend;

void fill(serial_backend& backend, storage::relation& target, const std::vector<std::vector<word>>& columns) {
  const auto scratch = std::make_unique<storage::insert_scratch>();
  for (std::size_t begin = 0; begin < columns[0].size(); begin += storage::tile_rows) {
    std::vector<const word*> values;
    for (const auto& column : columns) values.push_back(column.data() + begin);
    while (!target.has_room()) target.make_room(backend);
    const auto n = static_cast<std::uint32_t>(std::min<std::size_t>(storage::tile_rows, columns[0].size() - begin));
    target.insert<storage::exclusive_access>(values.data(), n, *scratch, 0);
  }
  target.settle(backend);
  target.complete();
}

void match(benchmark::State& state, bool published, bool sparse) {
  const auto keys = static_cast<word>(state.range(0));
  const auto rows_a_key = static_cast<word>(state.range(1));
  const auto percent = static_cast<std::uint64_t>(state.range(2));
  const word stretch = sparse ? 2654435761U : 1;
  std::mt19937_64 random(1);
  constexpr std::size_t probes = 1 << 18;
  std::vector<std::vector<word>> data(2);
  for (word row = 0; row < keys * rows_a_key; ++row) {
    data[0].push_back((row % keys) * stretch);
    data[1].push_back(row);
  }
  std::vector<std::vector<word>> probe(2);
  std::int64_t matches = 0;
  for (word row = 0; row < probes; ++row) {
    const bool found = random() % 100 < percent;
    probe[0].push_back((static_cast<word>(random() % keys) + (found ? 0 : keys)) * stretch);
    probe[1].push_back(row);
    matches += found ? rows_a_key : 0;
  }

  host_memory memory;
  serial_backend backend;
  storage::relation_options options;
  if (published) options.mode = storage::storage_mode::hisa;
  kernels::relation_list<storage::relation> relations;
  for (const std::uint32_t arity : {1U, 2U, 2U}) {
    relations.push_back(std::make_unique<storage::relation>(memory, arity, options));
  }
  fill(backend, *relations[1], probe);
  fill(backend, *relations[2], data);
  storage::index_layout layout{{0}, {1}, {1}, false, 0.5};
  if (published) layout = {{0}, {1}, {}, true, 0.8};
  const std::size_t index = relations[2]->add_index(layout);
  relations[2]->refresh_index(backend, index);

  kernels::segment scan;
  scan.kind = kernels::expansion_kind::scan;
  scan.source = 1;
  scan.bindings = {{0, 0}};
  kernels::segment join;
  join.kind = kernels::expansion_kind::match;
  join.source = 2;
  join.index = index;
  join.keys = {0};
  join.bindings = {{1, published ? 1U : 0U}};
  kernels::step never{};
  never.kind = kernels::step_kind::filter;
  never.comparison = gpulog::comparison_op::less_number;
  never.arguments = {1, 2};
  never.live = {1};
  join.steps = {never};
  kernels::pipeline program;
  program.segments = {scan, join};
  program.head = {1};
  program.target = 0;
  program.slot_count = 2;
  program.constants = {0};

  const auto scratch = std::make_unique<kernels::tile_scratch>();
  kernels::worker_gate gate(1);
  kernels::tile_runner<storage::exclusive_access> runner(program, relations, 0, *scratch, gate, nullptr);
  const std::uint64_t rows = kernels::input_rows(program, relations);
  for (auto _ : state) runner.run(0, rows, [](std::uint64_t) {});
  state.SetItemsProcessed(state.iterations() * (static_cast<std::int64_t>(probes) + matches));
}
const std::vector<std::vector<std::int64_t>> axes = {{1 << 12, 1 << 18}, {1, 8, 64}, {10, 100}};
BENCHMARK_CAPTURE(match, dense_keys, false, false)->ArgsProduct(axes)->ArgNames({"keys", "rows_a_key", "found"});
BENCHMARK_CAPTURE(match, sparse_keys, false, true)->ArgsProduct(axes)->ArgNames({"keys", "rows_a_key", "found"});
BENCHMARK_CAPTURE(match, published, true, true)->ArgsProduct(axes)->ArgNames({"keys", "rows_a_key", "found"});

}  // namespace
