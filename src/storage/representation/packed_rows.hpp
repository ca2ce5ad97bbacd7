#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "storage/representation/representation.hpp"
#include "storage/sets/bit_set.hpp"
#include "storage/sets/narrow_set.hpp"
#include "storage/sets/packed_set.hpp"
#include "storage/sets/word_set.hpp"

namespace gpulog::storage {

/// Rows of one or two words in one of four sets that need no columns. The bounds of the values determine the set and
/// the time at which it changes.
class packed_rows : public row_representation {
 public:
  static constexpr representation_abilities abilities{.inserts_at_once = true};
  explicit packed_rows(column_store& rows)
      : row_representation(rows), set_(std::in_place_type<packed_set>, *rows.resource, rows.arity()) {}

  /// Implements relation::bound_values().
  void bound_values(const std::vector<std::uint64_t>& bounds, std::uint64_t memory);
  void bound_present_values(const std::vector<std::uint64_t>& bounds, std::uint64_t memory);

  [[nodiscard]] const char* name() const {
    return std::visit([](const auto& set) { return set.name; }, set_);
  }
  [[nodiscard]] std::uint64_t bytes() const {
    return std::visit([](const auto& set) { return set.bytes(); }, set_);
  }
  [[nodiscard]] bool has_room(std::uint64_t room) const {
    return rows_->has_room(room) && set_has_room(room) && !holds_present_only_;
  }
  template <class Backend>
  void make_room(Backend&, std::uint64_t room, const backend::piece_runner& helpers) {
    rows_->make_room(room);
    if (holds_present_only_) hold_more(room, helpers);
    if (!set_has_room(room)) grow_set(room, helpers);
  }
  template <class Access>
  std::uint32_t insert(const word* const* values, std::uint32_t n, insert_scratch& scratch, unsigned) {
    const std::uint32_t fresh =
        std::visit([&](auto& set) { return set.template insert<Access>(values, n, scratch); }, set_);
    return rows_->append_packed<Access>(scratch.keys, fresh);
  }
  template <class Access>
  std::uint32_t insert_words(word first, const bitmap_words& words, std::uint32_t n, insert_scratch& scratch) {
    const std::uint32_t fresh =
        std::visit([&](auto& set) { return set.template insert_words<Access>(first, words, n, scratch); }, set_);
    return rows_->append_packed<Access>(scratch.keys, fresh);
  }
  void contains(const word* const* values, std::uint32_t n, insert_scratch& scratch, std::uint8_t* found) const {
    std::visit([&](const auto& set) { set.contains(values, n, scratch, found); }, set_);
  }

 private:
  [[nodiscard]] bool set_has_room(std::uint64_t room) const {
    return std::visit([room](const auto& set) { return set.has_room(room); }, set_);
  }
  using workers = backend::piece_runner;
  void grow_set(std::uint64_t room, const workers& helpers);
  void hold_more(std::uint64_t room, const workers& helpers);
  bool become_bits(const workers& helpers);
  void become_words(std::uint64_t room, const workers& helpers);
  [[nodiscard]] bool narrow_takes_no_more() const;
  void become_narrow(std::uint64_t room, const workers& helpers);
  void become_hash(std::uint64_t room, const workers& helpers);
  /// Returns the size of a hash set whose slots hold tuples.
  [[nodiscard]] std::uint64_t hash_bytes() const {
    return bytes() * (std::holds_alternative<narrow_set>(set_) ? sizeof(std::uint64_t) / sizeof(std::uint32_t) : 1);
  }
  template <class Set>
  void insert_all_rows(Set& set, std::uint64_t room, const workers& helpers);

  std::variant<packed_set, narrow_set, bit_set, word_set> set_;
  std::optional<bit_matrix_shape> bounds_;  // shape for the bounds of values, if known
  std::uint64_t memory_ = 0;                // limit for all relations
  bool holds_present_only_ = false;         // whether the bounds cover present rows only
};
static_assert(representation<packed_rows>);

}  // namespace gpulog::storage
