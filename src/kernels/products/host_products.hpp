#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/products/product_rows.hpp"
#include "kernels/products/product_task.hpp"
#include "kernels/search/decomposed_task.hpp"

namespace gpulog::kernels {

/// Computes all rows, level by level, until no row is due.
/// @return nothing if this exceeds `most`
template <class Backend>
std::optional<row_counts> make_rows(Backend& backend, backend::memory_resource& resource, product_rows& rows,
                                    const product_steps& most, const std::atomic<bool>* stop) {
  std::vector<std::unique_ptr<product_rows::scratch>> scratch(backend.workers());
  const auto make = [&](unsigned worker, std::uint32_t number, std::uint32_t step) {
    if (scratch[worker] == nullptr) scratch[worker] = std::make_unique<product_rows::scratch>(resource, rows);
    rows.make_row(number, step, *scratch[worker]);
  };
  const auto work = [&scratch] {
    product_work sum;
    for (const auto& one : scratch) {
      if (one != nullptr) sum += product_rows::work_of(*one);
    }
    return sum;
  };
  row_counts counts;
  std::uint32_t step = 1;  // first tuples have an earlier stamp
  std::vector<std::uint32_t> due;
  for (bool is_any = true; is_any; ++counts.iterations) {
    is_any = false;
    for (std::size_t level = 0; level + 1 < rows.levels().size(); ++level) {
      if (stop != nullptr && stop->load(std::memory_order_relaxed)) throw interrupted{};
      due.clear();
      std::copy_if(rows.order().begin() + static_cast<std::ptrdiff_t>(rows.levels()[level]),
                   rows.order().begin() + static_cast<std::ptrdiff_t>(rows.levels()[level + 1]),
                   std::back_inserter(due), [&](std::uint32_t number) { return rows.is_due(number); });
      if (due.empty()) continue;
      is_any = true;
      ++step;
      const std::uint64_t tile = std::clamp<std::uint64_t>(due.size() / (backend.workers() * 16ULL), 1, 64);
      backend.for_each_tile(due.size(), tile, [&](unsigned worker, std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t i = begin; i < end; ++i) make(worker, due[static_cast<std::size_t>(i)], step);
      });
      if (most.of_tuple == 0) continue;
      const product_work so_far = work();
      const double allowed =
          most.of_pair * static_cast<double>(rows.pairs()) + most.of_tuple * static_cast<double>(so_far.bits);
      if (static_cast<double>(so_far.steps) > allowed) return std::nullopt;
    }
  }
  --counts.iterations;
  counts.candidates = work().candidates;
  return counts;
}

/// Runs a product recursion and replaces the target's rows, the first tuples, by the result: words, or columns if
/// columns take less memory.
/// @param bound exclusive bound of the values if values serve directly as row numbers, else 0
/// @param most_bytes limit for tables without blocks
/// @param most limit for steps; without a limit, the result always stays words
/// @return nothing, without any effect, if a limit is exceeded
/// @throws backend::memory_exceeded, interrupted
template <class Backend>
std::optional<row_counts> run_products(Backend& backend, backend::memory_resource& resource, const row_equations& task,
                                       std::uint64_t bound, std::uint64_t most_bytes, const product_steps& most,
                                       const relation_list<storage::relation>& relations,
                                       const std::atomic<bool>* stop) {
  const backend::piece_runner workers(backend);
  std::optional<product_rows> rows(std::in_place, workers, resource, task, relations, bound);
  if (rows->numbers() == 0 || rows->numbers() > most_numbers || rows->table_bytes() > most_bytes) return std::nullopt;
  const double most_of_pairs = most.table_bytes_of_pair * static_cast<double>(rows->pairs());
  if (most.of_tuple != 0 && static_cast<double>(rows->table_bytes()) > most_of_pairs) return std::nullopt;
  rows->make_tables(backend.workers());
  const auto counts = make_rows(backend, resource, *rows, most, stop);
  if (!counts) return std::nullopt;
  auto words = std::make_unique<storage::word_rows>(resource, rows->take_words());
  rows.reset();
  const bool is_small = words->bytes() <= words->rows() * 2 * sizeof(word);
  relations[task.relation().value]->replace(std::move(words));
  if (most.of_tuple == 0 || is_small) return counts;
  try {
    relations[task.relation().value]->materialize(backend);
  } catch (const backend::memory_exceeded&) {
    // Keeping words is correct, too.
  }
  return counts;
}

}  // namespace gpulog::kernels
