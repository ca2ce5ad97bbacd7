#pragma once

#include <concepts>
#include <cstdint>

#include "storage/relation/column_store.hpp"
#include "storage/sets/tuple_set.hpp"

/// What a relation's rows are kept by: the set that makes them distinct, and whatever else decides which rows it has. A
/// relation has one of a closed list of kinds (relation.hpp) and asks it; where a kind is written, `representation`
/// checks that it answers. Kinds are asked once for a tile of tuples, not for each.
namespace gpulog::storage {

struct representation_abilities {
  /// Rows are in the columns, and can stay there without the representation.
  bool has_columns = true;
  /// A tuple that is inserted is in its place at once, and who inserts it does not matter.
  bool inserts_at_once = false;
};

/// What most kinds have in common: the columns tell whether there is room, a phase has nothing to finish, and what it
/// appended is shown by the next one.
class row_representation {
 public:
  explicit row_representation(column_store& rows) : rows_(&rows) {}

  [[nodiscard]] static std::uint64_t bytes() { return 0; }
  [[nodiscard]] bool has_room(std::uint64_t room) const { return rows_->has_room(room); }
  template <class Backend>
  void make_room(Backend&, std::uint64_t room) {
    rows_->make_room(room);
  }
  /// Behind a rule version, so that earlier rules come first: chooses among the tuples that were inserted, where that
  /// has to be done. @return how many of them turned out to be new
  template <class Backend>
  std::uint64_t choose(Backend&) {
    return 0;
  }
  /// The same in the order in which they were inserted, for rows of a file.
  std::uint64_t choose_in_order() { return 0; }
  /// Ends a phase: what was appended is distinct and without gaps.
  template <class Backend>
  void settle(Backend&) {}
  /// Delta joins old, what was appended becomes delta.
  void advance() { rows_->show(rows_->rows, rows_->end()); }
  /// All rows are old.
  void complete() { rows_->show(rows_->end(), rows_->end()); }
  /// All rows are delta.
  void restart() { rows_->show(0, rows_->end()); }
  /// Fills the columns, and empties them, of a kind that has its rows elsewhere. @throws memory_exceeded
  void write_out() {}
  void forget_written() {}

 protected:
  column_store* rows_;
};

class any_backend;

/// Inserting and looking up: as tuple_set. What is inserted needs has_room(); make_room(), and what ends or begins a
/// phase, needs all workers to be elsewhere. insert() returns how many tuples were new as far as that is known.
template <class Kind>
concept representation = requires(Kind& kind, const Kind& known, any_backend& backend, const word* const* values,
                                  std::uint32_t n, std::uint64_t room, insert_scratch& scratch, unsigned worker,
                                  std::uint8_t* found) {
  { Kind::abilities } -> std::convertible_to<representation_abilities>;
  { known.name() } -> std::convertible_to<const char*>;
  { known.bytes() } -> std::same_as<std::uint64_t>;
  { known.has_room(room) } -> std::same_as<bool>;
  kind.make_room(backend, room);
  { kind.template insert<exclusive_access>(values, n, scratch, worker) } -> std::same_as<std::uint32_t>;
  { kind.template insert<concurrent_access>(values, n, scratch, worker) } -> std::same_as<std::uint32_t>;
  known.contains(values, n, scratch, found);
  { kind.choose(backend) } -> std::same_as<std::uint64_t>;
  { kind.choose_in_order() } -> std::same_as<std::uint64_t>;
  kind.settle(backend);
  kind.advance();
  kind.complete();
  kind.restart();
  kind.write_out();
  kind.forget_written();
};

}  // namespace gpulog::storage
