#include "storage/representation/packed_rows.hpp"

#include "storage/calibration.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace gpulog::storage {

void packed_rows::bound_values(const std::vector<std::uint64_t>& bounds, std::uint64_t memory) {
  const set_choice sets = rows_->options.sets;
  if (!std::holds_alternative<packed_set>(set_) || sets == set_choice::hash) return;
  bounds_ = bit_matrix_shape::of(bounds);
  memory_ = memory;
  if (sets == set_choice::words) {
    if (packed_word::can_hold(*bounds_)) become_words(0);
    return;
  }
  const std::uint64_t at_once = std::max(bytes(), calibration::small_matrix_bytes);
  if ((sets == set_choice::bits || bounds_->bytes() <= at_once) && become_bits()) return;
  if (narrow_takes_no_more()) become_narrow(0);
}

void packed_rows::bound_present_values(const std::vector<std::uint64_t>& bounds, std::uint64_t memory) {
  const set_choice sets = rows_->options.sets;
  const bool may_be_bits = sets == set_choice::automatic || sets == set_choice::bits;
  if (!may_be_bits || !std::holds_alternative<packed_set>(set_)) return;
  const bit_matrix_shape shape = bit_matrix_shape::of(bounds);
  if (shape.bytes() > bytes()) return;
  bounds_ = shape;
  memory_ = memory;
  holds_present_only_ = become_bits();
  if (!holds_present_only_) bounds_.reset();
}

void packed_rows::hold_more(std::uint64_t room) {
  bounds_.reset();
  become_hash(room);
  holds_present_only_ = false;
}

/// Makes room, or replaces the set by another one that would be smaller.
void packed_rows::grow_set(std::uint64_t room) {
  const set_choice sets = rows_->options.sets;
  const bool may_be_bits = bounds_ && sets != set_choice::words;
  if (may_be_bits && bounds_->bytes() <= calibration::matrix_per_hash * hash_bytes() && become_bits()) return;
  const bool is_narrow = std::holds_alternative<narrow_set>(set_);
  const bool is_hash = is_narrow || std::holds_alternative<packed_set>(set_);
  if (is_hash && bounds_ && sets == set_choice::automatic && hash_bytes() >= calibration::least_packed_bytes &&
      packed_word::can_hold(*bounds_)) {
    const double shared = tuples_per_word(rows_->pointers().data(), rows_->end(), *bounds_);
    const double least = calibration::tuples_per_word * static_cast<double>(hash_bytes() / bytes());
    if (shared >= least) return become_words(room);
  }
  if (narrow_takes_no_more()) return become_narrow(room);
  std::visit([&](auto& set) { set.grow(room, rows_->options.workers); }, set_);
}

/// Returns whether a narrow set is possible and not larger than the present set of tuples.
bool packed_rows::narrow_takes_no_more() const {
  if (!std::holds_alternative<packed_set>(set_) || !bounds_ || rows_->options.sets != set_choice::automatic)
    return false;
  const std::uint64_t least = narrow_set::least_slots(*bounds_);
  return least != 0 && least * sizeof(narrow_set::slot) <= bytes();
}

/// @return whether memory suffices for a matrix
bool packed_rows::become_bits() {
  memory_resource& resource = *rows_->resource;
  if (bounds_->bytes() > largest_matrix(rows_->options.sets, memory_, resource.used())) return false;
  try {
    bit_set bits(resource, *bounds_);
    insert_all_rows(bits, 0);
    set_.emplace<bit_set>(std::move(bits));
  } catch (const backend::memory_exceeded&) {
    memory_ = 0;
    return false;
  }
  return true;
}

/// Becomes a set of words or, without sufficient memory, a new hash set; makes room for `room` more tuples.
void packed_rows::become_words(std::uint64_t room) {
  // Smaller than the set it replaces. A failure loses nothing, because the rows contain all tuples.
  try {
    return insert_all_rows(set_.emplace<word_set>(*rows_->resource, *bounds_), room);
  } catch (const backend::memory_exceeded&) {
    bounds_.reset();
  }
  become_hash(room);
}

/// Becomes a narrow set or, without sufficient memory, a new hash set; makes room for `room` more tuples.
void packed_rows::become_narrow(std::uint64_t room) {
  try {
    return insert_all_rows(set_.emplace<narrow_set>(*rows_->resource, *bounds_, rows_->end() + room), room);
  } catch (const backend::memory_exceeded&) {
    become_hash(room);
  }
}

void packed_rows::become_hash(std::uint64_t room) {
  insert_all_rows(set_.emplace<packed_set>(*rows_->resource, rows_->arity()), room);
}

/// Inserts all rows into the set and makes room for `room` more tuples.
template <class Set>
void packed_rows::insert_all_rows(Set& set, std::uint64_t room) {
  const auto scratch = std::make_unique<insert_scratch>();
  const unsigned workers = rows_->options.workers;
  std::vector<const word*> tile = rows_->pointers();
  for (std::uint64_t left = rows_->end(); left != 0;) {
    const auto n = static_cast<std::uint32_t>(std::min<std::uint64_t>(tile_rows, left));
    if (!set.has_room(n)) set.grow(n, workers);
    set.template insert<exclusive_access>(tile.data(), n, *scratch);
    for (const word*& values : tile) values += n;
    left -= n;
  }
  if (!set.has_room(room)) set.grow(room, workers);
}

}  // namespace gpulog::storage
