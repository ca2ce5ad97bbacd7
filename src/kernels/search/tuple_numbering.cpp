#include "kernels/search/tuple_numbering.hpp"

#include <algorithm>

#include "kernels/search/numbered_task.hpp"
#include "storage/sets/hash.hpp"

namespace gpulog::kernels {

tuple_numbering::tuple_numbering(backend::memory_resource& resource, std::size_t arity) : slots_(resource, 1024) {
  for (std::size_t c = 0; c < arity; ++c) columns_.emplace_back(resource);
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

void tuple_numbering::find(const std::vector<const word*>& columns, std::uint64_t rows, std::uint32_t first,
                           std::uint32_t* numbers) const {
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
