#include "kernels/search/tuple_numbering.hpp"

#include <algorithm>
#include <utility>

#include "kernels/calibration.hpp"
#include "kernels/search/numbered_task.hpp"
#include "storage/sets/hash.hpp"
#include "support/long_vector.hpp"

namespace gpulog::kernels {

tuple_numbering::tuple_numbering(backend::memory_resource& resource, std::size_t arity) : slots_(resource, 1024) {
  for (std::size_t c = 0; c < arity; ++c) columns_.emplace_back(resource);
}

tuple_numbering::tuple_numbering(backend::array<word> values) : slots_(values.resource()), size_(values.size()) {
  columns_.push_back(std::move(values));
}

std::uint64_t tuple_numbering::hash(const word* const* columns, std::uint64_t row) const {
  if (columns_.size() == 1) return storage::mix(columns[0][row]);
  storage::key_hash hash;
  for (std::size_t c = 0; c < columns_.size(); ++c) hash.add(columns[c][row]);
  return storage::mix(hash.value());
}

bool tuple_numbering::is_tuple(std::uint32_t number, const word* const* columns, std::uint64_t row) const {
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (columns_[c][number] != columns[c][row]) return false;
  }
  return true;
}

std::uint64_t tuple_numbering::slot_of(std::uint64_t hash, const word* const* columns, std::uint64_t row) const {
  std::uint64_t at = storage::scale(hash, slots_.size());
  while (slots_[at] != 0 && !is_tuple(slots_[at] - 1, columns, row)) at = at + 1 == slots_.size() ? 0 : at + 1;
  return at;
}

void tuple_numbering::add(const std::vector<const word*>& columns, std::uint64_t rows, std::uint32_t first,
                          std::uint32_t* numbers) {
  std::uint64_t hashes[batch];
  for (std::uint64_t begin = 0; begin < rows; begin += batch) {
    const std::uint64_t n = std::min(batch, rows - begin);
    while ((size_ + n) * 2 > slots_.size()) grow();
    for (std::uint64_t i = 0; i < n; ++i) {
      hashes[i] = hash(columns.data(), begin + i);
      __builtin_prefetch(slots_.data() + storage::scale(hashes[i], slots_.size()));
    }
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint64_t at = slot_of(hashes[i], columns.data(), begin + i);
      if (slots_[at] == 0) {
        if (size_ == most_numbers) {
          is_full_ = true;
          return;
        }
        for (std::size_t c = 0; c < columns_.size(); ++c) columns_[c].push_back(columns[c][begin + i]);
        slots_[at] = static_cast<std::uint32_t>(++size_);
      }
      if (numbers != nullptr) numbers[begin + i] = first + (slots_[at] - 1);
    }
  }
}

std::uint64_t tuple_numbering::bound_of(const backend::piece_runner& workers,
                                        const std::vector<numbered_tuples>& tuples) {
  word largest = 0;
  for (const numbered_tuples& some : tuples) {
    long_vector<word> found(workers.ranges(some.rows), 0);
    workers.for_each_range(some.rows, [&](std::uint64_t range, std::uint64_t begin, std::uint64_t end) {
      word own = 0;
      for (std::uint64_t row = begin; row < end; ++row) own = std::max(own, some.columns.front()[row]);
      found[range] = own;
    });
    largest = std::max(largest, *std::max_element(found.begin(), found.end()));
  }
  return largest + 1ULL;
}

void tuple_numbering::add_all(const backend::piece_runner& workers, const std::vector<numbered_tuples>& tuples) {
  if (columns_.size() == 1) {
    // At most twice the size of a hash table, without hashing and without waiting for other threads.
    std::uint64_t rows = 0;
    for (const numbered_tuples& some : tuples) rows += some.rows;
    const std::uint64_t bound = bound_of(workers, tuples);
    if (bound <= rows * calibration::numbering_slots_of_row && rows < most_numbers)
      return add_by_value(workers, tuples, bound);
  }
  for (const numbered_tuples& some : tuples) add(some.columns, some.rows, some.first, some.numbers);
}

void tuple_numbering::add_by_value(const backend::piece_runner& workers, const std::vector<numbered_tuples>& tuples,
                                   std::uint64_t bound) {
  is_by_value_ = true;
  slots_ = backend::array<std::uint32_t>(slots_.resource(), bound);
  if (workers.workers() == 1) {
    for (const numbered_tuples& some : tuples) {
      for (std::uint64_t row = 0; row < some.rows; ++row) {
        const word value = some.columns.front()[row];
        std::uint32_t& slot = slots_[value];
        if (slot == 0) {
          columns_.front().push_back(value);
          slot = static_cast<std::uint32_t>(++size_);
        }
        if (some.numbers != nullptr) some.numbers[row] = some.first + (slot - 1);
      }
    }
    return;
  }
  number_first_rows(workers, tuples);
  for (const numbered_tuples& some : tuples) {
    if (some.numbers == nullptr) continue;
    workers.for_each_range(some.rows, [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
      find({some.columns.front() + begin}, end - begin, some.first, some.numbers + begin);
    });
  }
}

/// A value's slot holds the first row with the value; then first rows get numbers in their order.
void tuple_numbering::number_first_rows(const backend::piece_runner& workers,
                                        const std::vector<numbered_tuples>& tuples) {
  std::uint32_t rows_before = 0;
  for (const numbered_tuples& some : tuples) {
    workers.for_each_range(some.rows, [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t row = begin; row < end; ++row) {
        const std::uint32_t own = rows_before + static_cast<std::uint32_t>(row) + 1;
        std::uint32_t& slot = slots_[some.columns.front()[row]];
        std::uint32_t known = __atomic_load_n(&slot, __ATOMIC_RELAXED);
        while ((known == 0 || own < known) &&
               !__atomic_compare_exchange_n(&slot, &known, own, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        }
      }
    });
    rows_before += static_cast<std::uint32_t>(some.rows);
  }
  backend::array<std::uint8_t> is_first(slots_.resource(), rows_before, backend::fresh_memory::anything);
  std::vector<long_vector<std::uint64_t>> counts;  // by tuples and range
  rows_before = 0;
  for (const numbered_tuples& some : tuples) {
    auto& own = counts.emplace_back(workers.ranges(some.rows));
    workers.for_each_range(some.rows, [&](std::uint64_t range, std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t row = begin; row < end; ++row) {
        const bool is = slots_[some.columns.front()[row]] == rows_before + row + 1;
        is_first[rows_before + row] = is ? 1 : 0;
        own[range] += is ? 1 : 0;
      }
    });
    for (std::uint64_t& count : own) count = std::exchange(size_, size_ + count);
    rows_before += static_cast<std::uint32_t>(some.rows);
  }
  columns_.front() = backend::array<word>(slots_.resource(), size_, backend::fresh_memory::anything);
  rows_before = 0;
  for (std::size_t i = 0; i < tuples.size(); ++i) {
    const numbered_tuples& some = tuples[i];
    workers.for_each_range(some.rows, [&](std::uint64_t range, std::uint64_t begin, std::uint64_t end) {
      std::uint64_t number = counts[i][range];
      for (std::uint64_t row = begin; row < end; ++row) {
        if (is_first[rows_before + row] == 0) continue;
        const word value = some.columns.front()[row];
        columns_.front()[number] = value;
        slots_[value] = static_cast<std::uint32_t>(++number);
      }
    });
    rows_before += static_cast<std::uint32_t>(some.rows);
  }
}

void tuple_numbering::find(const std::vector<const word*>& columns, std::uint64_t rows, std::uint32_t first,
                           std::uint32_t* numbers) const {
  if (is_by_value_) {
    const word* const values = columns.front();
    for (std::uint64_t i = 0; i < rows; ++i) {
      const std::uint32_t slot = values[i] < slots_.size() ? slots_[values[i]] : 0;
      numbers[i] = slot == 0 ? none : first + (slot - 1);
    }
    return;
  }
  std::uint64_t hashes[batch];
  for (std::uint64_t begin = 0; begin < rows; begin += batch) {
    const std::uint64_t n = std::min(batch, rows - begin);
    for (std::uint64_t i = 0; i < n; ++i) {
      hashes[i] = hash(columns.data(), begin + i);
      __builtin_prefetch(slots_.data() + storage::scale(hashes[i], slots_.size()));
    }
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint32_t slot = slots_[slot_of(hashes[i], columns.data(), begin + i)];
      numbers[begin + i] = slot == 0 ? none : first + (slot - 1);
    }
  }
}

std::vector<const word*> tuple_numbering::columns() const {
  std::vector<const word*> result;
  for (const auto& column : columns_) result.push_back(column.data());
  return result;
}

void tuple_numbering::grow() {
  backend::array<std::uint32_t> larger(slots_.resource(), slots_.size() * 2);
  slots_.swap(larger);
  const std::vector<const word*> own = columns();
  for (std::uint64_t number = 0; number < size_; ++number) {
    std::uint64_t at = storage::scale(hash(own.data(), number), slots_.size());
    while (slots_[at] != 0) at = at + 1 == slots_.size() ? 0 : at + 1;
    slots_[at] = static_cast<std::uint32_t>(number + 1);
  }
}

}  // namespace gpulog::kernels
