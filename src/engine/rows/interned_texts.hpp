#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "exec/calibration.hpp"
#include "io/symbol_queue.hpp"
#include "io/task_runner.hpp"
#include "storage/symbols/symbol_table.hpp"

namespace gpulog::detail {

/// Interns the texts [first, last) of a column in order.
/// @param text_at returns the text of a row; the bytes must stay valid
/// @param words of the whole column
template <class Interner, class TextAt>
void intern_in_order(Interner interner, const TextAt& text_at, std::uint64_t first, std::uint64_t last, word* words) {
  io::symbol_queue<Interner> waiting(interner);
  for (std::uint64_t row = first; row < last; ++row) waiting.add(text_at(row), words[row]);
  waiting.flush();
}

/// Interns in one thread. While the table fits into the cache, lookups do not stall, so no queue is needed.
template <class TextAt>
void intern_alone(storage::symbol_table& symbols, const TextAt& text_at, std::uint64_t first, std::uint64_t last,
                  word* words) {
  for (; first < last && symbols.size() <= exec::calibration::symbols_in_a_cache; ++first) {
    words[first] = symbols.intern(text_at(first));
  }
  intern_in_order(io::immediate_interner(symbols), text_at, first, last, words);
}

/// Interns the texts of a column. The numbers equal those of a single-threaded run.
/// @param run provides the threads
template <class TextAt>
void intern_texts(storage::symbol_table& symbols, const TextAt& text_at, std::uint64_t rows, word* words,
                  io::task_runner& run) {
  const auto parts =
      static_cast<std::size_t>(std::min<std::uint64_t>(run.threads(), rows / exec::calibration::texts_of_a_thread));
  if (parts < 2) return intern_alone(symbols, text_at, 0, rows, words);
  const auto first_of = [&](std::size_t part) { return rows * part / parts; };
  storage::ordered_interning load(symbols);
  run(parts, [&](std::size_t part) {
    intern_in_order(io::ordered_interner(load.add_part(first_of(part))), text_at, first_of(part), first_of(part + 1),
                    words);
  });
  load.finish([&run](std::size_t count, const std::function<void(std::size_t)>& work) { run(count, work); });
  if (!load.has_replaced()) return;
  run(parts, [&](std::size_t part) { load.resolve(words + first_of(part), first_of(part + 1) - first_of(part)); });
}

}  // namespace gpulog::detail
