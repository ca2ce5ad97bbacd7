#pragma once

#include <concepts>
#include <cstdint>

#include "backend/piece_runner.hpp"
#include "storage/relation/column_store.hpp"
#include "storage/sets/tuple_set.hpp"

/// Representations of a relation's rows: the set that keeps rows distinct and all further rules that determine its
/// rows. A relation has one of a closed list of kinds (relation.hpp); each kind must satisfy the concept
/// `representation`. Calls are dispatched once per tile of tuples.
namespace gpulog::storage {

struct representation_abilities {
  /// Whether rows are in columns and can remain there without the representation.
  bool has_columns = true;
  /// Whether an inserted tuple is in its final place immediately, independent of the inserting worker.
  bool inserts_at_once = false;
};

/// Common defaults of most kinds: the columns determine the available room, a phase needs no completion, and appended
/// rows become visible in the next phase.
class row_representation {
 public:
  explicit row_representation(column_store& rows) : rows_(&rows) {}

  [[nodiscard]] static std::uint64_t bytes() { return 0; }
  [[nodiscard]] bool has_room(std::uint64_t room) const { return rows_->has_room(room); }
  template <class Backend>
  void make_room(Backend&, std::uint64_t room, const backend::piece_runner&) {
    rows_->make_room(room);
  }
  /// Chooses among the inserted tuples if necessary. Called after a rule version, so that earlier rules take
  /// precedence.
  /// @return the number of new tuples among them
  template <class Backend>
  std::uint64_t choose(Backend&) {
    return 0;
  }
  /// Like choose(), in the order of the insertions, for rows of a file.
  std::uint64_t choose_in_order() { return 0; }
  /// Ends a phase: appended rows are then distinct and without gaps.
  template <class Backend>
  void settle(Backend&) {}
  /// Adds delta to old; appended rows become delta.
  void advance() { rows_->show(rows_->rows, rows_->end()); }
  /// Makes all rows old.
  void complete() { rows_->show(rows_->end(), rows_->end()); }
  /// Makes all rows delta.
  void restart() { rows_->show(0, rows_->end()); }
  /// Fills the columns of a kind that stores its rows elsewhere; forget_written() empties them.
  /// @throws memory_exceeded
  void write_out() {}
  void forget_written() {}

 protected:
  column_store* rows_;
};

class any_backend;

/// The interface for insertions and lookups, like tuple_set. Insertions require has_room(); make_room() and the
/// functions that end or start a phase require all workers to be idle. insert() returns the number of new tuples as far
/// as it is known.
template <class Kind>
concept representation = requires(Kind& kind, const Kind& known, any_backend& backend, const word* const* values,
                                  std::uint32_t n, std::uint64_t room, insert_scratch& scratch, unsigned worker,
                                  std::uint8_t* found, const backend::piece_runner& helpers) {
  { Kind::abilities } -> std::convertible_to<representation_abilities>;
  { known.name() } -> std::convertible_to<const char*>;
  { known.bytes() } -> std::same_as<std::uint64_t>;
  { known.has_room(room) } -> std::same_as<bool>;
  kind.make_room(backend, room, helpers);
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
