#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "storage/hisa/hisa_set.hpp"
#include "storage/indexes/sorted_index.hpp"
#include "storage/relation/best_rows.hpp"
#include "storage/relation/relation_options.hpp"
#include "storage/sets/bit_set.hpp"
#include "storage/sets/choice_set.hpp"
#include "storage/sets/equivalence.hpp"
#include "storage/sets/hash_set.hpp"
#include "storage/sets/word_set.hpp"

namespace gpulog::storage {

/// Most candidates that a worker offers at a time.
constexpr std::uint32_t tile_rows = 512;

[[nodiscard]] inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Scratch space of one worker.
struct insert_scratch {
  std::uint64_t keys[tile_rows];
  std::uint64_t homes[tile_rows];
};

/// An append-only relation in columns. Rows [0, old_rows) are old, [old_rows, rows) delta; what is inserted lies behind
/// and becomes delta with the next advance. A tuple set keeps rows distinct (relation_sets.cpp).
class relation {
 public:
  relation(memory_resource& resource, std::uint32_t arity, const relation_options& options)
      : resource_(&resource), options_(options), arity_(arity), reserved_(options.workers) {
    for (std::uint32_t c = 0; c < arity; ++c) columns_.emplace_back(resource);
    create_set();
  }

  /// Before the first row: each domain is a key of which one tuple stays (choice-domain). What is inserted are then
  /// candidates, and choose() has to follow.
  void set_choice_domains(std::vector<choice_set::domain> domains);
  /// Before the first row: rows can be erased (subsumption). In both modes its tuple set is then the one that refers to
  /// rows, and an erased tuple is a new one when it is inserted again.
  void make_erasable();
  /// The same for a relation that keeps one row for each value of its other columns, the best in this one.
  void keep_best(std::uint32_t column, value_order order);
  /// The same, but what stays in each of these columns, one or more, is the bound of all values.
  void keep_bounds(std::vector<bounded_column> columns);
  /// From the next restart on, the end of a phase shows only the best of the rows that wait, at least that many if
  /// there are: others wait behind the delta, where better ones write over them. 0: all of them, as before.
  void use_priority_delta(std::uint64_t least) { best_->least_shown = least; }
  [[nodiscard]] bool keeps_best() const { return best_ != nullptr; }
  /// Whether a tuple that is inserted is in its place at once, and who inserts it does not matter.
  [[nodiscard]] bool inserts_at_once() const {
    return !equivalence_ && !best_ && !is_choice() && !std::holds_alternative<hisa_set>(set_);
  }
  [[nodiscard]] bool is_choice() const { return std::holds_alternative<choice_set>(set_); }
  /// All rows, those that are here and those to come, have values below these bounds, one a column. Then the tuple set
  /// can be a bit matrix: at once where it is small or asked for, else when a hash set would be of its size.
  /// @param memory bytes that all relations may take; a matrix is content with a share of what is left of them
  void bound_values(const std::vector<std::uint64_t>& bounds, std::uint64_t memory);
  /// Before the first row: no tuple will be inserted twice, and none be looked up. There is no tuple set then.
  void skip_set();
  /// How it tells whether a tuple is new: "hash", "bits", "words" or "hisa"; "none": it need not, or can't any more.
  [[nodiscard]] const char* set_name() const;

  /// Before the first row: an equivalence relation. It has pairs instead of rows: no columns and no indexes, and rows()
  /// is the number of pairs.
  void become_equivalence();
  /// nullptr for other relations.
  [[nodiscard]] const equivalence* as_equivalence() const { return equivalence_.get(); }

  /// Of an equivalence relation: fills the columns with its pairs. @throws memory_exceeded
  void write_out_pairs();
  void forget_pairs();

  [[nodiscard]] std::uint32_t arity() const { return arity_; }
  [[nodiscard]] std::uint64_t rows() const { return rows_; }
  [[nodiscard]] std::uint64_t old_rows() const { return old_rows_; }
  [[nodiscard]] std::uint64_t delta_rows() const { return rows_ - old_rows_; }
  /// Rows that the current phase has appended; exact after settle().
  [[nodiscard]] std::uint64_t appended_rows() const { return tail_.load(std::memory_order_relaxed) - rows_; }
  /// Whether no tuple can be new: it has the empty one. Any number of workers at a time, also while others insert.
  [[nodiscard]] bool is_full() const { return arity_ == 0 && has_empty_tuple_.load(std::memory_order_relaxed); }
  [[nodiscard]] const word* column(std::uint32_t c) const { return columns_[c].data(); }
  [[nodiscard]] column_pointers columns() const {
    column_pointers pointers(arity_);
    for (std::uint32_t c = 0; c < arity_; ++c) pointers[c] = columns_[c].data();
    return pointers;
  }
  [[nodiscard]] const phase_times& times() const { return times_; }
  [[nodiscard]] std::uint64_t bytes() const;

  // --- Inserting. Any number of workers at a time; make_room and what follows it need all others to be elsewhere.

  /// Rows that have to be free while so many workers insert a tile each; one alone needs those of its tile. Room is
  /// written to, so it costs time: small relations that one worker extends have little.
  [[nodiscard]] static constexpr std::uint64_t room_for(unsigned workers) {
    return workers * (tile_rows + reservation_rows);
  }
  [[nodiscard]] bool has_room(std::uint64_t room) const {
    if (arity_ == 0) return true;
    if (equivalence_) return equivalence_->has_room(room);
    if (std::holds_alternative<hisa_set>(set_)) {
      return candidate_tail_.load(std::memory_order_relaxed) + room <= capacity_of(candidates_);
    }
    if (tail_.load(std::memory_order_relaxed) + room > capacity_of(columns_)) return false;
    if (is_choice() || !has_set() || std::holds_alternative<bit_set>(set_)) return true;
    if (const auto* packed = std::get_if<packed_set>(&set_)) return packed->has_room(room);
    if (const auto* words = std::get_if<word_set>(&set_)) return words->has_room(room);
    return std::get<row_set>(set_).has_room(room);
  }
  /// Whether every worker may insert one more tile.
  [[nodiscard]] bool has_room() const { return has_room(room_for(options_.workers)); }

  /// @throws memory_exceeded
  template <class Backend>
  void make_room(Backend& backend, std::uint64_t room) {
    if (equivalence_) return equivalence_->make_room(std::max(room, room_for(1)));
    if (std::holds_alternative<hisa_set>(set_)) {
      const std::uint64_t capacity = capacity_of(candidates_);
      const std::uint64_t wanted = wanted_candidates();
      if (capacity < wanted + room) {
        for (auto& column : candidates_) column.set_capacity(std::min(wanted, capacity * 4 + 4096) + room);
      } else {
        deduplicate_candidates(backend);
      }
      return;
    }
    if (is_choice()) drop_candidates(backend);
    const std::uint64_t needed = tail_.load(std::memory_order_relaxed) + room;
    if (needed > capacity_of(columns_)) reserve_rows(needed);
    if (is_choice() || !has_set() || std::holds_alternative<bit_set>(set_)) return;
    if (std::holds_alternative<packed_set>(set_) || std::holds_alternative<word_set>(set_)) {
      grow_packed(room);
    } else {
      const auto fetch = [this](std::uint64_t row) {
        for (const auto& column : columns_) __builtin_prefetch(column.data() + row);
      };
      std::get<row_set>(set_).grow(
          room, [this](std::uint64_t row) { return row_hash(row); }, fetch, options_.workers);
    }
  }
  template <class Backend>
  void make_room(Backend& backend) {
    make_room(backend, room_for(options_.workers));
  }

  /// Offers n <= tile_rows tuples, given as one array a column. Needs has_room(n), beside others has_room(room_for())
  /// of as many as there are.
  /// @return how many were new (`hisa` mode and candidates of a choice: 0; settle() tells); of an equivalence relation,
  /// how many united classes
  template <bool Concurrent>
  std::uint32_t insert(const word* const* values, std::uint32_t n, insert_scratch& scratch, unsigned worker);

  /// The same for tuples (first, y) of the values y of n words, at most tile_rows, of a relation with two columns.
  /// Nobody else offers tuples with this first value meanwhile.
  template <bool Concurrent>
  std::uint32_t insert_words(word first, const bitmap_words& words, std::uint32_t n, insert_scratch& scratch,
                             unsigned worker);

  /// found[i] = whether tuple i is in the relation. Any number of workers at a time, also while others insert.
  void contains(const word* const* values, std::uint32_t n, insert_scratch& scratch, std::uint8_t* found) const;

  /// Ends a phase: what was appended is distinct and without gaps.
  template <class Backend>
  void settle(Backend& backend) {
    if (arity_ == 0) return;
    if (equivalence_) {
      publish_pairs();
    } else if (std::holds_alternative<hisa_set>(set_)) {
      deduplicate_candidates(backend);
    } else if (auto* by_row = std::get_if<row_set>(&set_)) {
      close_gaps(*by_row);
      if (best_) {
        choose_shown(*by_row);
        erase_replaced();
      }
    } else if (is_choice()) {
      choose(backend);
    }
  }

  /// Chooses among the candidates since the last time: the smaller tuple first, compared column by column as numbers.
  /// So it makes no difference who produced them in which order. @return how many were chosen
  template <class Backend>
  std::uint64_t choose(Backend& backend) {
    sort_candidates(backend);
    return choose_in_order();
  }
  /// The same in the order in which they were inserted, for rows of a file.
  std::uint64_t choose_in_order();

  /// delta joins old, what was appended becomes delta.
  void advance() {
    if (equivalence_ && !std::exchange(is_published_, false)) publish_pairs();
    old_rows_ = rows_;
    rows_ = best_ && best_->least_shown != 0 ? best_->shown : tail_.load(std::memory_order_relaxed);
  }
  /// All rows are old: the relation is complete for now.
  void complete() {
    if (equivalence_) equivalence_->make_old();
    is_published_ = false;
    old_rows_ = rows_ = tail_.load(std::memory_order_relaxed);
  }
  /// All rows are delta, as at the start of a fixpoint.
  void restart() {
    if (equivalence_) equivalence_->make_new();
    is_published_ = false;
    old_rows_ = 0;
    rows_ = 0;
    if (best_ && best_->least_shown != 0) choose_shown(std::get<row_set>(set_));
    rows_ = best_ && best_->least_shown != 0 ? best_->shown : tail_.load(std::memory_order_relaxed);
  }

  /// Takes over rows that are known to be distinct, for an empty relation that nothing will be inserted into or looked
  /// up in as a tuple: it has no set. @throws memory_exceeded
  void adopt(const column_pointers& values, std::uint64_t rows);

  // --- Erasing, in a relation that is erasable. Nobody may use it meanwhile.

  /// Tuples, without rows that are erased but still in the columns.
  [[nodiscard]] std::uint64_t tuples() const { return rows_ - erased_rows_; }
  [[nodiscard]] std::uint64_t erased_rows() const { return erased_rows_; }

  /// After settle(): of the rows that the phase has appended, row rows() + i goes where marks[i] is not 0.
  void erase_appended(const std::uint8_t* marks);

  /// The row's tuple is no longer in the relation. The row stays in the columns and indexes until compact().
  void erase(std::uint64_t row);

  /// compact() for a relation that keeps the best rows: it knows which ones were erased.
  void compact_best();

  /// Rows that were erased, those with marks[row] not 0, leave the columns; the others keep their order. Indexes are
  /// empty until their next refresh.
  void compact(const std::uint8_t* marks);

  /// All rows at once, distinct, in columns of their own: the relation is complete, without a set and with empty
  /// indexes.
  void replace(std::vector<array<word>> columns, std::uint64_t rows);
  /// Takes all rows out; the relation is as it was made, with its indexes empty.
  [[nodiscard]] std::vector<array<word>> take_rows();

  // --- Indexes.

  std::size_t add_index(index_layout layout) {
    indexes_.push_back(std::make_unique<sorted_index>(*resource_, std::move(layout), options_.buffers));
    return indexes_.size() - 1;
  }
  [[nodiscard]] const sorted_index& index(std::size_t number) const { return *indexes_[number]; }
  template <class Backend>
  void refresh_index(Backend& backend, std::size_t number) {
    if (equivalence_ || indexes_[number]->covers(old_rows_, rows_)) return;
    indexes_[number]->refresh(backend, columns(), old_rows_, rows_);
  }
  void drop_index(std::size_t number) {
    indexes_[number] = std::make_unique<sorted_index>(*resource_, indexes_[number]->layout(), options_.buffers);
  }
  /// Nothing will be inserted or looked up any more.
  void drop_set();

 private:
  /// Rows that a worker takes from the tail at a time for tuples wider than a slot.
  static constexpr std::uint64_t reservation_rows = 64;
  struct reservation {
    std::uint64_t next = 0;
    std::uint64_t end = 0;
  };

  void publish_pairs() {
    equivalence_->publish();
    is_published_ = true;
    tail_.store(equivalence_->pairs(), std::memory_order_relaxed);
  }

  [[nodiscard]] bool has_set() const { return !std::holds_alternative<std::monostate>(set_); }
  [[nodiscard]] bool is_packed() const { return arity_ * sizeof(word) <= sizeof(std::uint64_t); }

  void create_set();
  void create_hash_set();

  /// Candidates between two deduplications. Each of these merges into full, that is copies it: so the buffer grows with
  /// full (never with the candidates).
  [[nodiscard]] std::uint64_t wanted_candidates() const {
    constexpr std::uint64_t share_of_full = 4;
    if (resource_->limit() != 0) return options_.candidate_rows;
    return std::max(options_.candidate_rows, tail_.load(std::memory_order_relaxed) / share_of_full);
  }

  /// Rows that fit into every column. The last one is the last to grow, and memory may be refused on the way.
  static std::uint64_t capacity_of(const std::vector<array<word>>& columns) { return columns.back().capacity(); }

  void reserve_rows(std::uint64_t rows) {
    constexpr std::uint64_t least_rows = 128;
    const std::uint64_t capacity = std::max({rows, capacity_of(columns_) + capacity_of(columns_) / 2, least_rows});
    if (best_) best_->replaced.set_capacity(capacity);
    for (auto& column : columns_) column.set_capacity(capacity);
  }

  void pack_keys(const word* const* values, std::uint32_t n, std::uint64_t* keys) const {
    const word* const first = values[0];
    if (arity_ == 1) {
      for (std::uint32_t i = 0; i < n; ++i) keys[i] = first[i];
    } else {
      const word* const second = values[1];
      for (std::uint32_t i = 0; i < n; ++i) keys[i] = pack(first[i], second[i]);
    }
  }

  // Nobody may use the relation meanwhile.
  void grow_packed(std::uint64_t room);
  bool become_bits();
  bool become_words(std::uint64_t room);
  template <class Set>
  void insert_all_rows(Set& set);

  /// All of them, as they are. @return n
  std::uint32_t append(const word* const* values, std::uint32_t n);

  /// Appends the first `fresh` of the scratch's keys as rows. @return fresh
  template <bool Concurrent>
  std::uint32_t append_packed(std::uint32_t fresh, insert_scratch& scratch);

  template <class Value>
  [[nodiscard]] std::uint64_t tuple_hash(const Value& value) const {
    key_hash hash;
    if (best_) {
      for (const std::uint32_t c : best_->key) hash.add(value(c));
    } else {
      for (std::uint32_t c = 0; c < arity_; ++c) hash.add(value(c));
    }
    return mix(hash.value());
  }
  [[nodiscard]] std::uint64_t row_hash(std::uint64_t row) const {
    return tuple_hash([this, row](std::uint32_t c) { return columns_[c][row]; });
  }
  void hash_tuples(const word* const* values, std::uint32_t n, std::uint64_t* hashes) const {
    for (std::uint32_t i = 0; i < n; ++i) hashes[i] = tuple_hash([values, i](std::uint32_t c) { return values[c][i]; });
  }
  [[nodiscard]] bool equals_row(const word* const* values, std::uint32_t i, std::uint64_t row) const {
    for (std::uint32_t c = 0; c < arity_; ++c) {
      if (columns_[c][row] != values[c][i]) return false;
    }
    return true;
  }
  void write_row(const word* const* values, std::uint32_t i, std::uint64_t row) {
    for (std::uint32_t c = 0; c < arity_; ++c) columns_[c][row] = values[c][i];
  }

  void move_row(row_set& set, std::uint64_t from, std::uint64_t to) {
    if (from == to) return;
    set.move_row(row_hash(from), from, to);
    for (auto& column : columns_) column[to] = column[from];
  }

  template <bool Concurrent>
  std::uint32_t insert_best(row_set& set, const word* const* values, std::uint32_t n, insert_scratch& scratch,
                            unsigned worker);
  template <bool Concurrent>
  std::uint32_t insert_rows(row_set& set, const word* const* values, std::uint32_t n, insert_scratch& scratch,
                            unsigned worker);

  /// What a tuple that is offered, of which the set knows the key, leaves of the values that are not in the key.
  class best_value;
  class bounded_values;
  template <bool Concurrent, class Kept>
  std::uint32_t insert_best(row_set& set, const word* const* values, std::uint32_t n, insert_scratch& scratch,
                            unsigned worker, Kept kept);
  /// Says which of the rows that wait are shown next, and puts them in front.
  void choose_shown(row_set& set);
  void swap_rows(row_set& set, std::uint64_t one, std::uint64_t other);
  /// Rows whose place one has taken that is shown next leave the relation.
  void erase_replaced();

  /// Rows that workers had taken and not used are filled from the end.
  void close_gaps(row_set& set);

  std::uint32_t collect(const word* const* values, std::uint32_t n);

  template <class Backend>
  void deduplicate_candidates(Backend& backend);

  std::uint32_t append_candidates(choice_set& choice, const word* const* values, std::uint32_t n,
                                  insert_scratch& scratch);
  /// As sort_rows, by the signed numbers of 64 bits that the words stand for.
  void sort_values(const std::vector<std::uint32_t>& by, std::uint64_t begin, std::uint64_t end,
                   array<std::uint32_t>& sorted) const;
  template <class Backend>
  void sort_candidates(Backend& backend);
  template <class Backend>
  void drop_candidates(Backend& backend);

  memory_resource* resource_;
  relation_options options_;
  std::uint32_t arity_;
  std::vector<array<word>> columns_;
  std::uint64_t old_rows_ = 0;
  std::uint64_t rows_ = 0;
  std::atomic<std::uint64_t> tail_{0};
  std::atomic<bool> has_empty_tuple_{false};
  std::variant<std::monostate, packed_set, row_set, hisa_set, choice_set, bit_set, word_set> set_;
  std::optional<bit_matrix_shape> bounds_;  // of its values, where they are known
  std::uint64_t memory_ = 0;                // of all relations
  bool is_erasable_ = false;
  std::uint64_t erased_rows_ = 0;
  std::unique_ptr<best_rows> best_;
  std::vector<reservation> reserved_;
  std::vector<array<word>> candidates_;  // `hisa` mode: new, before it is deduplicated
  std::atomic<std::uint64_t> candidate_tail_{0};
  std::vector<std::unique_ptr<sorted_index>> indexes_;
  std::unique_ptr<equivalence> equivalence_;
  bool is_published_ = false;  // the pairs that the phase has united; only advance() is missing
  phase_times times_;
};

}  // namespace gpulog::storage

#include "storage/relation/priority_delta.hpp"
#include "storage/relation/relation_candidates.hpp"
#include "storage/relation/relation_insert.hpp"
