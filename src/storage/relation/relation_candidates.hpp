#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "storage/relation/relation.hpp"

/// How a relation that collects candidates treats them: sorted and merged (`hisa` mode), or candidates of a choice.
/// Part of relation.hpp.
namespace gpulog::storage {

inline std::uint32_t relation::collect(const word* const* values, std::uint32_t n) {
  const std::uint64_t at = candidate_tail_.fetch_add(n, std::memory_order_relaxed);
  for (std::uint32_t c = 0; c < arity_; ++c) std::copy(values[c], values[c] + n, candidates_[c].data() + at);
  return 0;
}

template <class Backend>
void relation::deduplicate_candidates(Backend& backend) {
  const std::uint64_t n = candidate_tail_.exchange(0);
  if (n == 0) return;
  const double start = seconds_now();
  column_pointers candidates(arity_);
  for (std::uint32_t c = 0; c < arity_; ++c) candidates[c] = candidates_[c].data();
  array<std::uint32_t> selected(*resource_);
  array<std::uint32_t> ranks(*resource_);
  auto& hisa = std::get<hisa_set>(set_);
  const std::uint64_t fresh = hisa.select_new(backend, columns(), candidates, n, selected, ranks);
  const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
  if (tail + fresh > capacity_of(columns_)) reserve_rows(tail + fresh);
  for (std::uint32_t c = 0; c < arity_; ++c) {
    backend.gather(candidates[c], selected.data(), fresh, columns_[c].data() + tail);
  }
  tail_.store(tail + fresh, std::memory_order_relaxed);
  selected.release();
  const double populated = seconds_now();
  hisa.merge(backend, columns(), tail, ranks);
  times_.populate_delta += populated - start;
  times_.merge += seconds_now() - populated;
}

inline std::uint32_t relation::append_candidates(choice_set& choice, const word* const* values, std::uint32_t n,
                                                 insert_scratch& scratch) {
  const std::uint32_t kept = choice.select_new(columns(), values, n, scratch.homes, scratch.keys);
  const std::uint64_t row = tail_.fetch_add(kept, std::memory_order_relaxed);
  for (std::uint32_t c = 0; c < arity_; ++c) {
    word* const column = columns_[c].data() + row;
    for (std::uint32_t k = 0; k < kept; ++k) column[k] = values[c][scratch.keys[k]];
  }
  return 0;
}

/// Sorts the candidates of a choice; with one domain by its columns first, so that rivals stand together.
template <class Backend>
void relation::sort_candidates(Backend& backend) {
  const auto& choice = std::get<choice_set>(set_);
  const std::uint64_t begin = choice.chosen_rows();
  const std::uint64_t end = tail_.load(std::memory_order_relaxed);
  if (end - begin < 2) return;
  std::vector<std::uint32_t> by;
  if (choice.domains().size() == 1) by = choice.domains().front();
  for (std::uint32_t c = 0; c < arity_; ++c) {
    if (std::find(by.begin(), by.end(), c) == by.end()) by.push_back(c);
  }
  constexpr word sign = 1U << 31;  // sort_rows compares without signs
  const auto flip_signs = [&] {
    for (auto& column : columns_) {
      word* const values = column.data() + begin;
      backend.for_each(end - begin, [values](std::uint64_t i) { values[i] ^= sign; });
    }
  };
  array<std::uint32_t> sorted(*resource_);
  if (options_.wide == nullptr) {
    flip_signs();
    sort_rows(backend, *resource_, columns(), by, begin, end, sorted);
  } else {
    sort_values(by, begin, end, sorted);
  }
  array<word> moved(*resource_, end - begin);
  for (auto& column : columns_) {
    backend.gather(column.data() + begin, sorted.data(), end - begin, moved.data());
    backend.copy(moved.data(), end - begin, column.data() + begin);
  }
  if (options_.wide == nullptr) flip_signs();
}

/// With one domain all but the smallest candidate of a key can go before the end of a phase.
template <class Backend>
void relation::drop_candidates(Backend& backend) {
  constexpr std::uint64_t worth_sorting = 1u << 20;
  const auto& choice = std::get<choice_set>(set_);
  const std::uint64_t begin = choice.chosen_rows();
  const std::uint64_t end = tail_.load(std::memory_order_relaxed);
  if (choice.domains().size() != 1 || end - begin < worth_sorting) return;
  sort_candidates(backend);
  std::uint64_t kept = begin + 1;
  for (std::uint64_t row = begin + 1; row < end; ++row) {
    const auto& domain = choice.domains().front();
    const bool rival = std::all_of(domain.begin(), domain.end(),
                                   [&](std::uint32_t c) { return columns_[c][row] == columns_[c][kept - 1]; });
    if (rival) continue;
    for (auto& column : columns_) column[kept] = column[row];
    ++kept;
  }
  tail_.store(kept, std::memory_order_relaxed);
  // Half of the room is free, or there is more room: sorting is not repeated for little.
  if (kept - begin > (end - begin) / 2) reserve_rows(capacity_of(columns_) + 1);
}

}  // namespace gpulog::storage
