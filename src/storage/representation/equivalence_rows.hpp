#pragma once

#include <algorithm>
#include <cstdint>

#include "storage/representation/representation.hpp"
#include "storage/sets/equivalence.hpp"

namespace gpulog::storage {

/// Rows of an equivalence relation: pairs of its classes, which are not stored in columns. The store counts the pairs.
class equivalence_rows : public row_representation {
 public:
  static constexpr representation_abilities abilities{.has_columns = false};
  explicit equivalence_rows(column_store& rows) : row_representation(rows), classes_(*rows.resource) {}

  [[nodiscard]] const equivalence& classes() const { return classes_; }

  [[nodiscard]] static const char* name() { return "none"; }
  [[nodiscard]] std::uint64_t bytes() const { return classes_.bytes(); }
  [[nodiscard]] bool has_room(std::uint64_t room) const { return classes_.has_room(room); }
  template <class Backend>
  void make_room(Backend&, std::uint64_t room, const backend::piece_runner&) {
    classes_.make_room(std::max<std::uint64_t>(room, tile_rows));
  }
  /// @return the number of insertions that merged classes
  template <class Access>
  std::uint32_t insert(const word* const* values, std::uint32_t n, insert_scratch& scratch, unsigned) {
    return classes_.insert<Access>(values[0], values[1], n, scratch.keys);
  }
  void contains(const word* const* values, std::uint32_t n, insert_scratch&, std::uint8_t* found) const {
    for (std::uint32_t i = 0; i < n; ++i) classes_.prefetch(values[0][i]);
    for (std::uint32_t i = 0; i < n; ++i) found[i] = classes_.is_pair(values[0][i], values[1][i], true, true) ? 1 : 0;
  }
  template <class Backend>
  void settle(Backend&) {
    publish();
  }
  void advance() {
    if (!is_published_) publish();
    is_published_ = false;
    row_representation::advance();
  }
  void complete() {
    classes_.make_old();
    is_published_ = false;
    row_representation::complete();
  }
  void restart() {
    classes_.make_new();
    is_published_ = false;
    row_representation::restart();
  }
  void write_out() {
    rows_->reserve(classes_.pairs());
    classes_.read_pairs(true, true, 0, classes_.pairs(), rows_->columns[0].data(), rows_->columns[1].data());
  }
  void forget_written() {
    for (auto& column : rows_->columns) column.release();
  }

 private:
  void publish() {
    classes_.publish();
    is_published_ = true;
    rows_->set_end(classes_.pairs());
  }

  equivalence classes_;
  bool is_published_ = false;  // whether the phase's pairs are published; only advance() is missing
};
static_assert(representation<equivalence_rows>);

}  // namespace gpulog::storage
