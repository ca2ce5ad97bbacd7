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

/// An append-only relation: rows in columns, what keeps them distinct (representation.hpp), and indexes. Rows [0,
/// old_rows) are old, [old_rows, rows) delta; what is inserted lies behind and becomes delta with the next advance.
class relation {
 public:
  relation(memory_resource& resource, std::uint32_t arity, const relation_options& options)
      : rows_(resource, arity, options), kept_by_(std::in_place_type<nullary_rows>, rows_) {
    represent_rows();
  }

  // --- Before the first row: other representations than the mode's. What is inserted is the same for all of them.

  /// Each domain is a key of which one tuple stays (choice-domain). What is inserted are then candidates, and choose()
  /// has to follow.
  void set_choice_domains(const std::vector<choice_rows::domain>& domains) {
    kept_by_.emplace<choice_rows>(rows_, domains);
  }
  /// Rows can be erased (subsumption). In both modes its tuple set is then the one that refers to rows, and an erased
  /// tuple is a new one when it is inserted again.
  void make_erasable() { kept_by_.emplace<hashed_rows>(rows_, true); }
  /// One row stays for each value of the other columns, the best in this one.
  void keep_best(std::uint32_t column, value_order order) { kept_by_.emplace<best_rows>(rows_, column, order); }
  /// The same, but what stays in each of these columns, one or more, is the bound of all values.
  void keep_bounds(std::vector<bounded_column> columns) { kept_by_.emplace<best_rows>(rows_, std::move(columns)); }
  /// An equivalence relation. It has pairs instead of rows: no columns and no indexes, and rows() is the number of
  /// pairs.
  void become_equivalence() { kept_by_.emplace<equivalence_rows>(rows_); }
  /// No tuple will be inserted twice, and none be looked up. There is no tuple set then.
  void skip_set() {
    if (abilities().has_columns) kept_by_.emplace<distinct_rows>(rows_);
  }
  /// Whether it has something that keeps its rows distinct.
  [[nodiscard]] bool has_set() const { return !std::holds_alternative<distinct_rows>(kept_by_); }

  /// From the next restart on, the end of a phase shows only the best of the rows that wait, at least that many if
  /// there are: others wait behind the delta, where better ones write over them. 0: all of them, as before.
  void use_priority_delta(std::uint64_t least) { kept_by<best_rows>().use_priority_delta(least); }
  /// All rows, those that are here and those to come, have values below these bounds, one a column. Then the tuple set
  /// can be a bit matrix: at once where it is small or asked for, else when a hash set would be of its size.
  /// @param memory bytes that all relations may take; a matrix is content with a share of what is left of them
  void bound_values(const std::vector<std::uint64_t>& bounds, std::uint64_t memory) {
    if (auto* const packed = std::get_if<packed_rows>(&kept_by_)) packed->bound_values(bounds, memory);
  }

  /// The rows that are here have values below these bounds, and no others are expected. Then the tuple set becomes a
  /// bit matrix where that is not larger.
  void bound_present_values(const std::vector<std::uint64_t>& bounds, std::uint64_t memory) {
    if (auto* const packed = std::get_if<packed_rows>(&kept_by_)) packed->bound_present_values(bounds, memory);
  }

  /// Whether bounds of its values may change its tuple set.
  [[nodiscard]] bool keeps_packed_tuples() const { return std::holds_alternative<packed_rows>(kept_by_); }
  [[nodiscard]] bool keeps_best() const { return std::holds_alternative<best_rows>(kept_by_); }
  /// Whether a tuple that is inserted is in its place at once, and who inserts it does not matter.
  [[nodiscard]] bool inserts_at_once() const { return abilities().inserts_at_once; }
  /// How it tells whether a tuple is new: "hash", "bits", "words" or "hisa"; "none": it need not, or can't any more;
  /// "factorized": it has no columns yet.
  [[nodiscard]] const char* set_name() const {
    return std::visit([](const auto& kind) { return kind.name(); }, kept_by_);
  }
  /// nullptr for relations that are none.
  [[nodiscard]] const equivalence* as_equivalence() const {
    const auto* const kind = std::get_if<equivalence_rows>(&kept_by_);
    return kind != nullptr ? &kind->classes() : nullptr;
  }

  /// Of an equivalence relation: fills the columns with its pairs. @throws memory_exceeded
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
  /// Rows that the current phase has appended; exact after settle().
  [[nodiscard]] std::uint64_t appended_rows() const { return rows_.end() - rows_.rows; }
  /// Whether no tuple can be new: it has the empty one. Any number of workers at a time, also while others insert.
  [[nodiscard]] bool is_full() const { return arity() == 0 && rows_.end() != 0; }
  [[nodiscard]] const word* column(std::uint32_t c) const { return rows_.columns[c].data(); }
  [[nodiscard]] column_pointers columns() const { return rows_.pointers(); }
  [[nodiscard]] const phase_times& times() const { return rows_.times; }
  [[nodiscard]] std::uint64_t bytes() const;

  // --- Inserting. Any number of workers at a time; make_room and what follows it need all others to be elsewhere.

  /// Rows that have to be free while so many workers insert a tile each; one alone needs those of its tile. Room is
  /// written to, so it costs time: small relations that one worker extends have little.
  [[nodiscard]] static constexpr std::uint64_t room_for(unsigned workers) {
    return workers * (tile_rows + reservation_rows);
  }
  [[nodiscard]] bool has_room(std::uint64_t room) const {
    return std::visit([room](const auto& kind) { return kind.has_room(room); }, kept_by_);
  }
  /// Whether every worker may insert one more tile.
  [[nodiscard]] bool has_room() const { return has_room(room_for(rows_.options.workers)); }
  /// @throws memory_exceeded
  template <class Backend>
  void make_room(Backend& backend, std::uint64_t room) {
    std::visit([&](auto& kind) { kind.make_room(backend, room); }, kept_by_);
  }
  template <class Backend>
  void make_room(Backend& backend) {
    make_room(backend, room_for(rows_.options.workers));
  }

  /// Offers n <= tile_rows tuples, given as one array a column. Needs has_room(n), beside others has_room(room_for())
  /// of as many as there are.
  /// @return how many were new (`hisa` mode and candidates of a choice: 0; settle() tells); of an equivalence relation,
  /// how many united classes
  template <class Access>
  std::uint32_t insert(const word* const* values, std::uint32_t n, insert_scratch& scratch, unsigned worker) {
    return std::visit([&](auto& kind) { return kind.template insert<Access>(values, n, scratch, worker); }, kept_by_);
  }
  /// Appends tuples that are known to be new, in their order, to a relation without a set: workers share the columns.
  /// Nobody else inserts meanwhile. @throws memory_exceeded
  template <class Backend>
  void append(Backend& backend, const column_pointers& values, std::uint64_t n) {
    const std::uint64_t end = rows_.end();
    rows_.reserve(end + n);
    for (std::uint32_t c = 0; c < arity(); ++c) backend.copy(values[c], n, rows_.columns[c].data() + end);
    rows_.set_end(end + n);
  }
  /// The same for tuples (first, y) of the values y of n words, at most tile_rows, of a relation with two columns.
  /// Nobody else offers tuples with this first value meanwhile.
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
  /// found[i] = whether tuple i is in the relation. Any number of workers at a time, also while others insert.
  void contains(const word* const* values, std::uint32_t n, insert_scratch& scratch, std::uint8_t* found) const {
    std::visit([&](const auto& kind) { kind.contains(values, n, scratch, found); }, kept_by_);
  }

  /// Chooses among the candidates since the last time, in a relation with choice-domains. @return how many were chosen
  template <class Backend>
  std::uint64_t choose(Backend& backend) {
    return std::visit([&](auto& kind) { return kind.choose(backend); }, kept_by_);
  }
  std::uint64_t choose_in_order() {
    return std::visit([](auto& kind) { return kind.choose_in_order(); }, kept_by_);
  }

  /// Ends a phase: what was appended is distinct and without gaps.
  template <class Backend>
  void settle(Backend& backend) {
    std::visit([&](auto& kind) { kind.settle(backend); }, kept_by_);
  }
  /// Delta joins old, what was appended becomes delta.
  void advance() {
    std::visit([](auto& kind) { kind.advance(); }, kept_by_);
  }
  /// All rows are old: the relation is complete for now.
  void complete() {
    std::visit([](auto& kind) { kind.complete(); }, kept_by_);
  }
  /// All rows are delta, as at the start of a fixpoint.
  void restart() {
    std::visit([](auto& kind) { kind.restart(); }, kept_by_);
  }

  /// Takes over rows that are known to be distinct, for an empty relation that nothing will be inserted into or looked
  /// up in as a tuple: it has no set. @throws memory_exceeded
  void adopt(const column_pointers& values, std::uint64_t rows);

  // --- Erasing, in a relation that is erasable. Nobody may use it meanwhile.

  /// Tuples, without rows that are erased but still in the columns.
  [[nodiscard]] std::uint64_t tuples() const { return rows_.rows - rows_.erased_rows; }
  [[nodiscard]] std::uint64_t erased_rows() const { return rows_.erased_rows; }
  /// After settle(): of the rows that the phase has appended, row rows() + i goes where marks[i] is not 0.
  void erase_appended(const std::uint8_t* marks) { kept_by<hashed_rows>().erase_appended(marks); }
  /// The row's tuple is no longer in the relation. The row stays in the columns and indexes until compact().
  void erase(std::uint64_t row) { kept_by<hashed_rows>().erase(row); }
  /// Rows that were erased, those with marks[row] not 0, leave the columns; the others keep their order. Indexes are
  /// empty until their next refresh.
  void compact(const std::uint8_t* marks) {
    kept_by<hashed_rows>().compact(marks);
    drop_indexes();
  }
  /// compact() for a relation that keeps the best rows: it knows which ones were erased.
  void compact_best() {
    kept_by<best_rows>().compact();
    drop_indexes();
  }

  /// All rows at once, distinct, in columns of their own: the relation is complete, without a set and with empty
  /// indexes.
  void replace(std::vector<array<word>> columns, std::uint64_t rows);
  /// The same, with rows that get columns when they are needed. Until materialize() it can be counted, and read through
  /// as_factorized().
  void factorize(std::unique_ptr<factorized_form> form);
  [[nodiscard]] bool is_factorized() const { return as_factorized() != nullptr; }
  /// nullptr for relations that are not.
  [[nodiscard]] factorized_form* as_factorized() const {
    const auto* const kind = std::get_if<factorized_rows>(&kept_by_);
    return kind != nullptr ? &kind->form() : nullptr;
  }
  /// They will be inserted again: of a relation without a set, those that the phase has appended behind n rows.
  void forget_appended(std::uint64_t n) {
    if (!has_set()) rows_.set_end(rows_.rows + n);
  }
  /// Makes columns of factorized rows. @throws memory_exceeded
  template <class Backend>
  void materialize(Backend& backend) {
    if (const auto* const kind = std::get_if<factorized_rows>(&kept_by_)) {
      auto made = kind->columns(backend);
      const std::uint64_t count = rows();
      kept_by_.emplace<distinct_rows>(rows_);
      replace(std::move(made), count);
    }
  }
  /// Takes all rows out; the relation is as it was made, with its indexes empty.
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
  /// Nothing will be inserted or looked up any more.
  void drop_set();

 private:
  [[nodiscard]] representation_abilities abilities() const {
    return std::visit([](const auto& kind) { return kind.abilities; }, kept_by_);
  }
  template <class Kind>
  [[nodiscard]] Kind& kept_by() {
    return std::get<Kind>(kept_by_);
  }
  /// As the mode and the arity say.
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
