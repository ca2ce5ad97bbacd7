#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "storage/relation.hpp"

/// How a relation that does not simply keep every distinct tuple treats what it is offered: the best of a key,
/// candidates that are sorted (`hisa` mode), candidates of a choice; and how it changes its tuple set. Part of
/// relation.hpp.
namespace gpulog::storage {

/// Makes room in a set of packed tuples, or puts another one in its place where that one would be smaller.
inline void relation::grow_packed(std::uint64_t room) {
  const bool may_change = bounds_ && options_.sets != set_choice::words;
  const auto may_be_bits = [&](std::uint64_t bytes) {
    return may_change && bounds_->bytes() <= set_sizes::matrix_per_hash * bytes;
  };
  if (std::holds_alternative<word_set>(set_)) {
    auto& words = std::get<word_set>(set_);
    if (words.has_room(room) || (may_be_bits(words.bytes()) && become_bits())) return;
    words.grow(room, options_.workers);
    return;
  }
  auto& packed = std::get<packed_set>(set_);
  if (packed.has_room(room) || (may_be_bits(packed.bytes()) && become_bits())) return;
  const bool may_be_words = bounds_ && options_.sets == set_choice::automatic;
  if (may_be_words && packed.bytes() >= set_sizes::least_packed_bytes && packed_word::can_hold(*bounds_)) {
    const double shared = tuples_per_word(columns().data(), tail_.load(std::memory_order_relaxed), *bounds_);
    if (shared >= set_sizes::tuples_per_word && become_words(room)) return;
  }
  packed.grow(room, options_.workers);
}

/// @return whether there is memory for a matrix
inline bool relation::become_bits() {
  if (bounds_->bytes() > set_sizes::largest_matrix(options_.sets, memory_, resource_->used())) return false;
  try {
    bit_set bits(*resource_, *bounds_);
    insert_all_rows(bits);
    set_.emplace<bit_set>(std::move(bits));
  } catch (const backend::memory_exceeded&) {
    memory_ = 0;
    return false;
  }
  return true;
}

/// @return whether there was memory for it
inline bool relation::become_words(std::uint64_t room) {
  // It is smaller than what it replaces, and nothing is lost when it is not made: the rows have all tuples.
  const unsigned workers = options_.workers;
  set_.emplace<std::monostate>();
  try {
    auto& words = set_.emplace<word_set>(*resource_, *bounds_);
    insert_all_rows(words);
    if (!words.has_room(room)) words.grow(room, workers);
    return true;
  } catch (const backend::memory_exceeded&) {
    bounds_.reset();
  }
  auto& packed = set_.emplace<packed_set>(*resource_);
  insert_all_rows(packed);
  if (!packed.has_room(room)) packed.grow(room, workers);
  return true;
}

template <class Set>
void relation::insert_all_rows(Set& set) {
  const auto scratch = std::make_unique<insert_scratch>();
  const std::uint64_t rows = tail_.load(std::memory_order_relaxed);
  std::vector<const word*> tile(arity_);
  for (std::uint64_t row = 0; row < rows; row += tile_rows) {
    for (std::uint32_t c = 0; c < arity_; ++c) tile[c] = columns_[c].data() + row;
    const auto n = static_cast<std::uint32_t>(std::min<std::uint64_t>(tile_rows, rows - row));
    if constexpr (!std::is_same_v<Set, bit_set>) {
      if (!set.has_room(n)) set.grow(n, options_.workers);
    }
    if constexpr (std::is_same_v<Set, packed_set>) {
      pack_keys(tile.data(), n, scratch->keys);
      set.template insert<false>(scratch->keys, n, scratch->homes);
    } else {
      set.template insert<false>(tile.data(), n, scratch->keys, scratch->homes);
    }
  }
}

/// Where the best value of a key stays.
class relation::best_value {
 public:
  best_value(relation& target, const word* const* values)
      : rules_(*target.best_), offered_(values[rules_.column]), column_(target.columns_[rules_.column].data()) {}

  void start(std::uint32_t i) { kept_ = value_ = offered_[i]; }
  /// Beside a row that somebody may read already. @return whether a row with what stays has to take its place
  bool differs_from(std::uint64_t row) {
    const word known = column_[row];
    kept_ = rules_.order.better(value_, known) ? value_ : known;
    return kept_ != known;
  }
  /// Writes what stays over a row of the running phase.
  void write_over(std::uint64_t row) {
    word known = __atomic_load_n(column_ + row, __ATOMIC_RELAXED);
    while (rules_.order.better(value_, known) &&
           !__atomic_compare_exchange_n(column_ + row, &known, value_, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
  }
  void write(std::uint64_t row) const { column_[row] = kept_; }

 private:
  const best_rows& rules_;
  const word* offered_;
  word* column_;
  word value_ = 0;
  word kept_ = 0;
};

/// Where bounds of all values of a key stay, each in a column.
class relation::bounded_values {
 public:
  bounded_values(relation& target, const word* const* values) {
    for (const bounded_column& one : target.best_->bounds) {
      columns_.push_back({&one.bound, values[one.column], target.columns_[one.column].data()});
    }
  }

  void start(std::uint32_t i) {
    for (kept_column& own : columns_) own.kept = own.value = own.offered[i];
  }
  bool differs_from(std::uint64_t row) {
    bool differs = false;
    for (kept_column& own : columns_) {
      own.kept = (*own.bound)(own.column[row], own.value);
      differs |= own.kept != own.column[row];
    }
    return differs;
  }
  /// Somebody else may be half done with it: each column takes in all values that are offered, in whatever order.
  void write_over(std::uint64_t row) {
    for (kept_column& own : columns_) {
      word known = __atomic_load_n(own.column + row, __ATOMIC_RELAXED);
      word kept = (*own.bound)(known, own.value);
      while (kept != known &&
             !__atomic_compare_exchange_n(own.column + row, &known, kept, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        kept = (*own.bound)(known, own.value);
      }
    }
  }
  void write(std::uint64_t row) const {
    for (const kept_column& own : columns_) own.column[row] = own.kept;
  }

 private:
  struct kept_column {
    const std::function<word(word, word)>* bound;
    const word* offered;
    word* column;
    word value = 0;
    word kept = 0;
  };
  std::vector<kept_column> columns_;
};

template <bool Concurrent>
std::uint32_t relation::insert_best(row_set& set, const word* const* values, std::uint32_t n, insert_scratch& scratch,
                                    unsigned worker) {
  if (best_->bounds.empty()) {
    return insert_best<Concurrent>(set, values, n, scratch, worker, best_value(*this, values));
  }
  return insert_best<Concurrent>(set, values, n, scratch, worker, bounded_values(*this, values));
}

template <bool Concurrent, class Kept>
std::uint32_t relation::insert_best(row_set& set, const word* const* values, std::uint32_t n, insert_scratch& scratch,
                                    unsigned worker, Kept kept) {
  hash_tuples(values, n, scratch.homes);
  for (std::uint32_t i = 0; i < std::min(n, prefetch_distance); ++i) set.prefetch(scratch.homes[i]);
  std::uint32_t fresh = 0;
  std::uint32_t added = 0;
  reservation& own = reserved_[worker];
  for (std::uint32_t i = 0; i < n; ++i) {
    if (i + prefetch_distance < n) set.prefetch(scratch.homes[i + prefetch_distance]);
    if (Concurrent && own.next == own.end) {
      own.next = tail_.fetch_add(reservation_rows, std::memory_order_relaxed);
      own.end = own.next + reservation_rows;
    }
    const std::uint64_t row = Concurrent ? own.next : tail_.load(std::memory_order_relaxed);
    const auto same_key = [&](std::uint64_t other) {
      return std::all_of(best_->key.begin(), best_->key.end(),
                         [&](std::uint32_t c) { return columns_[c][other] == values[c][i]; });
    };
    kept.start(i);
    const auto consider = [&](std::uint64_t other) {
      if (other < rows_) return kept.differs_from(other);
      kept.write_over(other);
      return false;
    };
    const auto show = [&](std::uint64_t other) {
      for (const std::uint32_t c : best_->key) columns_[c][row] = values[c][i];
      kept.write(row);
      best_->replaced[row] = other == row_set::no_row ? 0 : other + 1;
    };
    const row_set::placed outcome = set.insert_or_replace<Concurrent>(scratch.homes[i], row, same_key, consider, show);
    if (outcome == row_set::placed::no) continue;
    if constexpr (Concurrent) {
      ++own.next;
    } else {
      tail_.store(row + 1, std::memory_order_relaxed);
    }
    ++fresh;
    added += outcome == row_set::placed::added ? 1 : 0;
  }
  set.add_count(added);
  return fresh;
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
