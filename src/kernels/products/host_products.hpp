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

namespace gpulog::kernels {

/// Makes all rows, level by level, until none is due. @return nothing, where the first part of them gets fewer bits
/// than that for each of its groups
template <class Backend>
std::optional<product_counts> make_rows(Backend& backend, backend::memory_resource& resource, product_rows& rows,
                                        double least_bits, const std::atomic<bool>* stop) {
  std::vector<std::unique_ptr<product_rows::scratch>> scratch(backend.workers());
  const auto make = [&](unsigned worker, std::uint32_t number, std::uint32_t step) {
    if (scratch[worker] == nullptr) scratch[worker] = std::make_unique<product_rows::scratch>(resource, rows);
    rows.make_row(number, step, *scratch[worker]);
  };
  product_counts counts;
  std::uint32_t step = 1;  // first tuples came before
  std::vector<std::uint32_t> due;
  std::uint64_t made = 0;
  std::uint64_t bits = 0;
  const std::uint64_t sample = rows.numbers() / 16 + 1;
  for (bool is_any = true; is_any; ++counts.rounds) {
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
        for (std::uint64_t i = begin; i < end; ++i) make(worker, due[i], step);
      });
      if (least_bits == 0 || made >= sample) continue;
      made += due.size();
      for (const std::uint32_t number : due) bits += rows.size(number);
      const double least = least_bits * static_cast<double>(made) * static_cast<double>(rows.groups());
      if (made >= sample && static_cast<double>(bits) < least) return std::nullopt;
    }
  }
  --counts.rounds;
  for (const auto& one : scratch) counts.candidates += one == nullptr ? 0 : product_rows::candidates(*one);
  return counts;
}

/// Runs a recursion of products, and replaces the target's rows, which are those to start from, by its result: words,
/// or columns where these take less memory.
/// @param bound of its values, which are numbers of rows themselves then; 0: they get numbers
/// @param most_bytes that tables of groups may have
/// @param least_bits of a group of the first rows; 0: however few there are, and words stay words
/// @return nothing, and nothing is done, when it is more, or less
/// @throws backend::memory_exceeded, interrupted
template <class Backend>
std::optional<product_counts> run_products(Backend& backend, backend::memory_resource& resource,
                                           const product_task& task, std::uint64_t bound, std::uint64_t most_bytes,
                                           double least_bits, const relation_list<storage::relation>& relations,
                                           const std::atomic<bool>* stop) {
  std::optional<product_rows> rows(std::in_place, resource, task, relations, bound);
  if (rows->numbers() == 0 || rows->numbers() > most_numbers || rows->table_bytes() > most_bytes) return std::nullopt;
  rows->make_tables(backend.workers());
  const auto counts = make_rows(backend, resource, *rows, least_bits, stop);
  if (!counts) return std::nullopt;
  auto words = std::make_unique<storage::word_rows>(resource, rows->take_words());
  rows.reset();
  const bool is_small = words->bytes() <= words->rows() * 2 * sizeof(word);
  relations[task.target]->factorize(std::move(words));
  if (least_bits != 0 && !is_small) relations[task.target]->materialize(backend);
  return counts;
}

}  // namespace gpulog::kernels
