#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <variant>
#include <vector>

#include "storage/relation/relation.hpp"

/// How tuples get into a relation, and are looked up in it: what every candidate of a rule goes through. Part of
/// relation.hpp.
namespace gpulog::storage {

template <bool Concurrent>
inline std::uint32_t relation::insert(const word* const* values, std::uint32_t n, insert_scratch& scratch,
                                      unsigned worker) {
  if (arity_ == 0) {
    if (n == 0 || has_empty_tuple_.exchange(true)) return 0;
    tail_.store(1, std::memory_order_relaxed);
    return 1;
  }
  if (equivalence_) return equivalence_->insert<Concurrent>(values[0], values[1], n, scratch.keys);
  if (!has_set()) return append(values, n);
  if (std::holds_alternative<hisa_set>(set_)) return collect(values, n);
  if (is_choice()) return append_candidates(std::get<choice_set>(set_), values, n, scratch);
  if (auto* bits = std::get_if<bit_set>(&set_)) {
    return append_packed<Concurrent>(bits->insert<Concurrent>(values, n, scratch.keys, scratch.homes), scratch);
  }
  if (auto* words = std::get_if<word_set>(&set_)) {
    return append_packed<Concurrent>(words->insert<Concurrent>(values, n, scratch.keys, scratch.homes), scratch);
  }
  if (auto* packed = std::get_if<packed_set>(&set_)) {
    pack_keys(values, n, scratch.keys);
    return append_packed<Concurrent>(packed->insert<Concurrent>(scratch.keys, n, scratch.homes), scratch);
  }
  if (best_) return insert_best<Concurrent>(std::get<row_set>(set_), values, n, scratch, worker);
  return insert_rows<Concurrent>(std::get<row_set>(set_), values, n, scratch, worker);
}

template <bool Concurrent>
inline std::uint32_t relation::insert_words(word first, const bitmap_words& words, std::uint32_t n,
                                            insert_scratch& scratch, unsigned worker) {
  if (auto* bits = std::get_if<bit_set>(&set_))
    return append_packed<Concurrent>(bits->insert_words(first, words, n, scratch.keys), scratch);
  if (auto* packed = std::get_if<word_set>(&set_)) {
    return append_packed<Concurrent>(packed->insert_words<Concurrent>(first, words, n, scratch.keys, scratch.homes),
                                     scratch);
  }
  word firsts[tile_rows];
  word values[tile_rows];
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t number = words.numbers[i];
    for (std::uint64_t left = words.bits[number]; left != 0; left &= left - 1)
      values[count++] = number * 64 + static_cast<word>(std::countr_zero(left));
  }
  std::fill_n(firsts, count, first);
  const word* const columns[] = {firsts, values};
  return insert<Concurrent>(columns, count, scratch, worker);
}

inline void relation::contains(const word* const* values, std::uint32_t n, insert_scratch& scratch,
                               std::uint8_t* found) const {
  if (arity_ == 0) {
    std::fill(found, found + n, static_cast<std::uint8_t>(has_empty_tuple_.load(std::memory_order_relaxed) ? 1 : 0));
  } else if (equivalence_) {
    for (std::uint32_t i = 0; i < n; ++i) equivalence_->prefetch(values[0][i]);
    for (std::uint32_t i = 0; i < n; ++i) {
      found[i] = equivalence_->is_pair(values[0][i], values[1][i], true, true) ? 1 : 0;
    }
  } else if (const auto* bits = std::get_if<bit_set>(&set_)) {
    bits->contains(values, n, scratch.homes, found);
  } else if (const auto* words = std::get_if<word_set>(&set_)) {
    words->contains(values, n, scratch.homes, found);
  } else if (const auto* packed = std::get_if<packed_set>(&set_)) {
    pack_keys(values, n, scratch.keys);
    packed->contains(scratch.keys, n, scratch.homes, found);
  } else if (const auto* by_row = std::get_if<row_set>(&set_)) {
    hash_tuples(values, n, scratch.homes);
    for (std::uint32_t i = 0; i < n; ++i) {
      // Where rows are erased, a tuple that the phase has found again counts from the next iteration on.
      const auto same_as = [&](std::uint64_t row) {
        if (best_ && row >= rows_) row = best_->replaced[row] - 1;
        return (!is_erasable_ || row < rows_) && equals_row(values, i, row);
      };
      found[i] = by_row->contains(scratch.homes[i], same_as) ? 1 : 0;
    }
  } else if (const auto* choice = std::get_if<choice_set>(&set_)) {
    choice->contains(columns(), values, n, found);
  } else {
    const column_pointers candidates(values, values + arity_);
    const column_pointers data = columns();
    const auto& hisa = std::get<hisa_set>(set_);
    for (std::uint32_t i = 0; i < n; ++i) found[i] = hisa.contains(data, candidates, i) ? 1 : 0;
  }
}

inline std::uint32_t relation::append(const word* const* values, std::uint32_t n) {
  const std::uint64_t row = tail_.fetch_add(n, std::memory_order_relaxed);
  for (std::uint32_t c = 0; c < arity_; ++c) std::copy_n(values[c], n, columns_[c].data() + row);
  return n;
}

template <bool Concurrent>
inline std::uint32_t relation::append_packed(std::uint32_t fresh, insert_scratch& scratch) {
  std::uint64_t row;
  if constexpr (Concurrent) {
    row = tail_.fetch_add(fresh, std::memory_order_relaxed);
  } else {
    row = tail_.load(std::memory_order_relaxed);
    tail_.store(row + fresh, std::memory_order_relaxed);
  }
  if (arity_ == 1) {
    word* const first = columns_[0].data() + row;
    for (std::uint32_t i = 0; i < fresh; ++i) first[i] = static_cast<word>(scratch.keys[i]);
  } else {
    word* const first = columns_[0].data() + row;
    word* const second = columns_[1].data() + row;
    for (std::uint32_t i = 0; i < fresh; ++i) {
      first[i] = static_cast<word>(scratch.keys[i] >> 32);
      second[i] = static_cast<word>(scratch.keys[i]);
    }
  }
  return fresh;
}

template <bool Concurrent>
inline std::uint32_t relation::insert_rows(row_set& set, const word* const* values, std::uint32_t n,
                                           insert_scratch& scratch, unsigned worker) {
  hash_tuples(values, n, scratch.homes);
  for (std::uint32_t i = 0; i < std::min(n, prefetch_distance); ++i) set.prefetch(scratch.homes[i]);
  std::uint32_t fresh = 0;
  reservation& own = reserved_[worker];
  for (std::uint32_t i = 0; i < n; ++i) {
    if (i + prefetch_distance < n) set.prefetch(scratch.homes[i + prefetch_distance]);
    const auto same_as = [&](std::uint64_t row) { return equals_row(values, i, row); };
    if constexpr (Concurrent) {
      if (own.next == own.end) {
        own.next = tail_.fetch_add(reservation_rows, std::memory_order_relaxed);
        own.end = own.next + reservation_rows;
      }
      write_row(values, i, own.next);
      if (!set.insert<true>(scratch.homes[i], own.next, same_as)) continue;
      ++own.next;
    } else {
      const std::uint64_t row = tail_.load(std::memory_order_relaxed);
      if (!set.insert<false>(scratch.homes[i], row, same_as)) continue;
      write_row(values, i, row);
      tail_.store(row + 1, std::memory_order_relaxed);
    }
    ++fresh;
  }
  set.add_count(fresh);
  return fresh;
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

}  // namespace gpulog::storage
