#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "storage/indexes/sorted_index.hpp"
#include "storage/relation/column_store.hpp"
#include "storage/relation/relation_options.hpp"
#include "storage/representation/best_rows.hpp"
#include "storage/representation/choice_rows.hpp"
#include "storage/representation/equivalence_rows.hpp"
#include "storage/representation/factorized_rows.hpp"
#include "storage/representation/hashed_rows.hpp"
#include "storage/representation/hisa_rows.hpp"
#include "storage/representation/packed_rows.hpp"
#include "storage/representation/plain_rows.hpp"

namespace gpulog::storage {

/// An append-only relation: rows in columns, a representation that keeps the rows distinct (representation.hpp), and
/// indexes. Rows [0, old_rows) are old, [old_rows, rows) delta; inserted rows follow and become delta with the next
/// advance.
class relation {
 public:
  relation(memory_resource& resource, std::uint32_t arity, const relation_options& options)
      : rows_(resource, arity, options), kept_by_(std::in_place_type<nullary_rows>, rows_) {
    represent_rows();
  }

  // --- Before the first row: representations other than the mode's. The interface for insertions is the same for all.

  /// Keeps one tuple per key of each domain (choice-domain). Insertions then collect candidates, and choose() must
  /// follow.
  void set_choice_domains(const std::vector<choice_rows::domain>& domains) {
    kept_by_.emplace<choice_rows>(rows_, domains);
  }
  /// Permits the erasure of rows (subsumption). In both modes the tuple set then refers to rows, and an erased tuple
  /// counts as new when it is inserted again.
  void make_erasable() { kept_by_.emplace<hashed_rows>(rows_, true); }
  /// Keeps one row per combination of the remaining columns: the best value in this column.
  void keep_best(std::uint32_t column, value_order order) { kept_by_.emplace<best_rows>(rows_, column, order); }
  /// Like keep_best(), but each of the given columns, at least one, holds the bound of all values.
  void keep_bounds(std::vector<bounded_column> columns) { kept_by_.emplace<best_rows>(rows_, std::move(columns)); }
  /// Becomes an equivalence relation, which has pairs instead of rows: no columns and no indexes, and rows() is the
  /// number of pairs.
  void become_equivalence() { kept_by_.emplace<equivalence_rows>(rows_); }
  /// Omits the tuple set: no tuple will be inserted twice or looked up.
  void skip_set() {
    if (abilities().has_columns) kept_by_.emplace<distinct_rows>(rows_);
  }
  /// Returns whether a set keeps the rows distinct.
  [[nodiscard]] bool has_set() const { return !std::holds_alternative<distinct_rows>(kept_by_); }

  /// Limits the delta from the next restart on: the end of a phase shows only the best of the waiting rows, at least
  /// `least` if available; the remaining rows wait after the delta, where better rows overwrite them. 0: no limit.
  void use_priority_delta(std::uint64_t least) { kept_by<best_rows>().use_priority_delta(least); }
  /// Declares exclusive upper bounds for the values of all rows, present and future, one per column. Then the tuple set
  /// may become a bit matrix: immediately if the matrix is small or requested, otherwise when a hash set would reach
  /// its size.
  /// @param memory limit for all relations in bytes; a matrix uses at most a share of the remaining memory
  void bound_values(const std::vector<std::uint64_t>& bounds, std::uint64_t memory) {
    if (auto* const packed = std::get_if<packed_rows>(&kept_by_)) packed->bound_values(bounds, memory);
  }

  /// Declares exclusive upper bounds for the values of present rows, with no further values expected. Then the tuple
  /// set becomes a bit matrix unless the matrix would be larger.
  void bound_present_values(const std::vector<std::uint64_t>& bounds, std::uint64_t memory) {
    if (auto* const packed = std::get_if<packed_rows>(&kept_by_)) packed->bound_present_values(bounds, memory);
  }

  /// Returns whether bounds of its values may change the tuple set.
  [[nodiscard]] bool keeps_packed_tuples() const { return std::holds_alternative<packed_rows>(kept_by_); }
  [[nodiscard]] bool keeps_best() const { return std::holds_alternative<best_rows>(kept_by_); }
  /// Returns whether an inserted tuple is in its final place immediately, independent of the inserting worker.
  [[nodiscard]] bool inserts_at_once() const { return abilities().inserts_at_once; }
  /// Returns the name of the test for new tuples: "hash", "bits", "words" or "hisa"; "none" without a test;
  /// "factorized" before columns exist.
  [[nodiscard]] const char* set_name() const {
    return std::visit([](const auto& kind) { return kind.name(); }, kept_by_);
  }
  /// Returns nullptr unless the relation is an equivalence relation.
  [[nodiscard]] const equivalence* as_equivalence() const {
    const auto* const kind = std::get_if<equivalence_rows>(&kept_by_);
    return kind != nullptr ? &kind->classes() : nullptr;
  }

  /// Fills the columns of an equivalence relation with its pairs.
  /// @throws memory_exceeded
  void write_out() {
    std::visit([](auto& kind) { kind.write_out(); }, kept_by_);
  }
  void forget_written() {
    std::visit([](auto& kind) { kind.forget_written(); }, kept_by_);
  }

  [[nodiscard]] std::uint32_t arity() const { return rows_.arity(); }
  [[nodiscard]] std::uint64_t rows() const { return rows_.rows; }
  [[nodiscard]] std::uint64_t old_rows() const { return rows_.old_rows; }
  [[nodiscard]] std::uint64_t delta_rows() const { return rows_.rows - rows_.old_rows; }
  /// Returns the number of rows appended by the current phase; exact after settle().
  [[nodiscard]] std::uint64_t appended_rows() const { return rows_.end() - rows_.rows; }
  /// Returns whether no tuple can be new because the relation contains the empty tuple. Thread-safe, also during
  /// insertions.
  [[nodiscard]] bool is_full() const { return arity() == 0 && rows_.end() != 0; }
  [[nodiscard]] const word* column(std::uint32_t c) const { return rows_.columns[c].data(); }
  [[nodiscard]] column_pointers columns() const { return rows_.pointers(); }
  [[nodiscard]] const phase_times& times() const { return rows_.times; }
  [[nodiscard]] std::uint64_t bytes() const;

  // --- Insertions. Thread-safe, except make_room() and the functions after it, which require all workers to be idle.

  /// Returns the number of rows that must be free while the given number of workers insert a tile each; a single worker
  /// needs the rows of its tile only. Unused room costs time because it is written: small relations with a single
  /// worker have little.
  [[nodiscard]] static constexpr std::uint64_t room_for(unsigned workers) {
    return workers * (tile_rows + reservation_rows);
  }
  [[nodiscard]] bool has_room(std::uint64_t room) const {
    return std::visit([room](const auto& kind) { return kind.has_room(room); }, kept_by_);
  }
  /// Returns whether every worker may insert another tile.
  [[nodiscard]] bool has_room() const { return has_room(room_for(rows_.options.workers)); }
  /// @param helpers workers that may help to move tuples
  /// @throws memory_exceeded
  template <class Backend>
  void make_room(Backend& backend, std::uint64_t room, const backend::piece_runner& helpers) {
    std::visit([&](auto& kind) { kind.make_room(backend, room, helpers); }, kept_by_);
  }
  template <class Backend>
  void make_room(Backend& backend, std::uint64_t room) {
    make_room(backend, room, backend::piece_runner(backend));
  }
  template <class Backend>
  void make_room(Backend& backend) {
    make_room(backend, room_for(rows_.options.workers));
  }

  /// Offers n <= tile_rows tuples, one array per column. Requires has_room(n), or has_room(room_for(workers)) with
  /// several workers.
  /// @return the number of new tuples (0 in `hisa` mode and for candidates of a choice until settle()); for an
  ///   equivalence relation, the number of insertions that merged classes
  template <class Access>
  std::uint32_t insert(const word* const* values, std::uint32_t n, insert_scratch& scratch, unsigned worker) {
    return std::visit([&](auto& kind) { return kind.template insert<Access>(values, n, scratch, worker); }, kept_by_);
  }
  /// Appends tuples that are known to be new, in their order, to a relation without a set: workers share the columns.
  /// No concurrent insertions are permitted.
  /// @throws memory_exceeded
  template <class Backend>
  void append(Backend& backend, const column_pointers& values, std::uint64_t n) {
    const std::uint64_t end = rows_.end();
    rows_.reserve(end + n);
    for (std::uint32_t c = 0; c < arity(); ++c) backend.copy(values[c], n, rows_.columns[c].data() + end);
    rows_.set_end(end + n);
  }
  /// Like insert(), for tuples (first, y) with the values y in n words, at most tile_rows tuples, of a binary relation.
  /// No other worker may offer tuples with this first value at the same time.
  template <class Access>
  std::uint32_t insert_words(word first, const bitmap_words& words, std::uint32_t n, insert_scratch& scratch,
                             unsigned worker) {
    if (auto* const packed = std::get_if<packed_rows>(&kept_by_))
      return packed->insert_words<Access>(first, words, n, scratch);
    word firsts[tile_rows];
    word values[tile_rows];
    std::uint32_t count = 0;
    words.for_each(n, [&](word value) { values[count++] = value; });
    std::fill_n(firsts, count, first);
    const word* const columns[] = {firsts, values};
    return insert<Access>(columns, count, scratch, worker);
  }
  /// Sets found[i] to whether tuple i is in the relation. Thread-safe, also during insertions.
  void contains(const word* const* values, std::uint32_t n, insert_scratch& scratch, std::uint8_t* found) const {
    std::visit([&](const auto& kind) { kind.contains(values, n, scratch, found); }, kept_by_);
  }

  /// Chooses among the candidates since the last call, in a relation with choice-domains.
  /// @return the number of chosen tuples
  template <class Backend>
  std::uint64_t choose(Backend& backend) {
    return std::visit([&](auto& kind) { return kind.choose(backend); }, kept_by_);
  }
  std::uint64_t choose_in_order() {
    return std::visit([](auto& kind) { return kind.choose_in_order(); }, kept_by_);
  }

  /// Ends a phase: appended rows are then distinct and without gaps.
  template <class Backend>
  void settle(Backend& backend) {
    std::visit([&](auto& kind) { kind.settle(backend); }, kept_by_);
  }
  /// Adds delta to old; appended rows become delta.
  void advance() {
    std::visit([](auto& kind) { kind.advance(); }, kept_by_);
  }
  /// Makes all rows old: the relation is complete for now.
  void complete() {
    std::visit([](auto& kind) { kind.complete(); }, kept_by_);
  }
  /// Makes all rows delta, as at the start of a fixpoint.
  void restart() {
    std::visit([](auto& kind) { kind.restart(); }, kept_by_);
  }

  /// Takes over distinct rows into an empty relation that receives no insertions and no tuple lookups, and therefore
  /// has no set.
  /// @param lasts whether the values stay valid and unchanged as long as the relation
  /// @throws memory_exceeded
  void adopt(const column_pointers& values, std::uint64_t rows, bool lasts = false);

  // --- Erasing, in a relation with erasable rows. No concurrent use is permitted.

  /// Takes over distinct rows into the empty relation. The first insertion or lookup builds the set.
  /// @param lasts whether the values stay valid and unchanged as long as the relation
  /// @throws memory_exceeded
  void adopt_erasable(const column_pointers& values, std::uint64_t rows, bool lasts) {
    kept_by<hashed_rows>().adopt(values, rows, lasts);
    complete();
  }
  /// Returns whether each row is a tuple: none was erased or replaced.
  [[nodiscard]] bool has_only_tuples() const {
    return rows_.erased_rows == 0 && std::holds_alternative<hashed_rows>(kept_by_);
  }

  /// Returns the number of tuples, without erased rows that are still in the columns.
  [[nodiscard]] std::uint64_t tuples() const { return rows_.rows - rows_.erased_rows; }
  [[nodiscard]] std::uint64_t erased_rows() const { return rows_.erased_rows; }
  /// Erases row rows() + i of the phase's appended rows if marks[i] is not 0. Call after settle().
  void erase_appended(const std::uint8_t* marks) { kept_by<hashed_rows>().erase_appended(marks); }
  /// Returns the row of tuple i, or nothing.
  [[nodiscard]] std::optional<std::uint64_t> find(const word* const* values, std::uint32_t i) const {
    return std::get<hashed_rows>(kept_by_).find(values, i);
  }
  /// Erases the row's tuple. The row stays in the columns and indexes until compact().
  void erase(std::uint64_t row) { kept_by<hashed_rows>().erase(row); }
  /// Removes erased rows, whose marks[row] is not 0, from the columns; the remaining rows keep their order. Indexes are
  /// empty until their next refresh.
  void compact(const std::uint8_t* marks) {
    kept_by<hashed_rows>().compact(marks);
    drop_indexes();
  }
  /// Like compact(), for a relation that keeps the best rows and records which rows were erased.
  void compact_best() {
    kept_by<best_rows>().compact();
    drop_indexes();
  }

  /// Replaces the contents by distinct rows in the given columns: the relation is then complete, without a set and with
  /// empty indexes.
  void replace(std::vector<array<word>> columns, std::uint64_t rows);
  /// The same for a matrix, which has the rows until materialize().
  void replace(std::unique_ptr<host_row_matrix> matrix);
  /// Returns nullptr if the rows are in columns.
  [[nodiscard]] host_row_matrix* matrix() const {
    const auto* const kind = std::get_if<factorized_rows>(&kept_by_);
    return kind != nullptr ? &kind->matrix() : nullptr;
  }
  /// Forgets appended rows after the first n of the phase, in a relation without a set: they will be inserted again.
  void forget_appended(std::uint64_t n) {
    if (!has_set()) rows_.set_end(rows_.rows + n);
  }
  /// Converts a matrix to columns.
  /// @throws memory_exceeded
  template <class Backend>
  void materialize(Backend& backend) {
    if (const auto* const kind = std::get_if<factorized_rows>(&kept_by_)) {
      auto made = kind->columns(backend);
      const std::uint64_t count = rows();
      kept_by_.emplace<distinct_rows>(rows_);
      replace(std::move(made), count);
    }
  }
  /// Moves all rows out; the relation returns to its initial state with empty indexes.
  [[nodiscard]] std::vector<array<word>> take_rows();

  // --- Indexes.

  std::size_t add_index(index_layout layout) {
    indexes_.push_back(std::make_unique<sorted_index>(*rows_.resource, std::move(layout), rows_.options.buffers));
    return indexes_.size() - 1;
  }
  [[nodiscard]] const sorted_index& index(std::size_t number) const { return *indexes_[number]; }
  template <class Backend>
  void refresh_index(Backend& backend, std::size_t number) {
    if (!abilities().has_columns || is_fresh(number)) return;
    column_pointers& pointers = indexes_[number]->pointers();
    pointers.resize(arity());
    for (std::uint32_t c = 0; c < arity(); ++c) pointers[c] = column(c);
    indexes_[number]->refresh(backend, pointers, rows_.old_rows, rows_.rows);
  }
  /// Whether an index covers all rows.
  [[nodiscard]] bool is_fresh(std::size_t number) const { return indexes_[number]->covers(rows_.old_rows, rows_.rows); }
  void drop_index(std::size_t number) {
    indexes_[number] =
        std::make_unique<sorted_index>(*rows_.resource, indexes_[number]->layout(), rows_.options.buffers);
  }
  /// Drops the set: no further insertions or lookups follow.
  void drop_set();

 private:
  [[nodiscard]] representation_abilities abilities() const {
    return std::visit([](const auto& kind) { return kind.abilities; }, kept_by_);
  }
  template <class Kind>
  [[nodiscard]] Kind& kept_by() {
    return std::get<Kind>(kept_by_);
  }
  /// Chooses the representation for the mode and the arity.
  void represent_rows();
  void drop_indexes() {
    for (std::size_t number = 0; number < indexes_.size(); ++number) drop_index(number);
  }

  column_store rows_;
  std::variant<nullary_rows, distinct_rows, packed_rows, hashed_rows, best_rows, choice_rows, hisa_rows,
               equivalence_rows, factorized_rows>
      kept_by_;
  std::vector<std::unique_ptr<sorted_index>> indexes_;
};

}  // namespace gpulog::storage
