#include "storage/representation/packed_rows.hpp"

#include "storage/calibration.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace gpulog::storage {
namespace {

/// Calls make_room(n) before each tile of n rows.
template <class Access, class Set, class MakeRoom>
void insert_rows(Set& set, const std::vector<const word*>& columns, std::uint64_t begin, std::uint64_t end,
                 const MakeRoom& make_room) {
  const auto scratch = std::make_unique<insert_scratch>();
  std::vector<const word*> tile(columns.size());
  for (; begin < end; begin += tile_rows) {
    for (std::size_t c = 0; c < columns.size(); ++c) tile[c] = columns[c] + begin;
    const auto n = static_cast<std::uint32_t>(std::min<std::uint64_t>(tile_rows, end - begin));
    make_room(n);
    set.template insert<Access>(tile.data(), n, *scratch);
  }
}

}  // namespace

void packed_rows::bound_values(const std::vector<std::uint64_t>& bounds, std::uint64_t memory) {
  const set_choice sets = rows_->options.sets;
  if (!std::holds_alternative<packed_set>(set_) || sets == set_choice::hash) return;
  bounds_ = bit_matrix_shape::of(bounds);
  memory_ = memory;
  if (sets == set_choice::words) {
    if (packed_word::can_hold(*bounds_)) become_words(0, {});
    return;
  }
  const std::uint64_t at_once = std::max(bytes(), calibration::small_matrix_bytes);
  if ((sets == set_choice::bits || bounds_->bytes() <= at_once) && become_bits({})) return;
  if (narrow_takes_no_more()) become_narrow(0, {});
}

void packed_rows::bound_present_values(const std::vector<std::uint64_t>& bounds, std::uint64_t memory) {
  const set_choice sets = rows_->options.sets;
  const bool may_be_bits = sets == set_choice::automatic || sets == set_choice::bits;
  if (!may_be_bits || !std::holds_alternative<packed_set>(set_)) return;
  const bit_matrix_shape shape = bit_matrix_shape::of(bounds);
  if (shape.bytes() > bytes()) return;
  bounds_ = shape;
  memory_ = memory;
  holds_present_only_ = become_bits({});
  if (!holds_present_only_) bounds_.reset();
}

void packed_rows::hold_more(std::uint64_t room, const workers& helpers) {
  bounds_.reset();
  become_hash(room, helpers);
  holds_present_only_ = false;
}

/// Makes room, or replaces the set by another one that would be smaller.
void packed_rows::grow_set(std::uint64_t room, const workers& helpers) {
  const set_choice sets = rows_->options.sets;
  const bool may_be_bits = bounds_ && sets != set_choice::words;
  if (may_be_bits && bounds_->bytes() <= calibration::matrix_per_hash * hash_bytes() && become_bits(helpers)) return;
  const bool is_narrow = std::holds_alternative<narrow_set>(set_);
  const bool is_hash = is_narrow || std::holds_alternative<packed_set>(set_);
  if (is_hash && bounds_ && sets == set_choice::automatic && hash_bytes() >= calibration::least_packed_bytes &&
      packed_word::can_hold(*bounds_)) {
    const double shared = tuples_per_word(rows_->pointers().data(), rows_->end(), *bounds_);
    const double least = calibration::tuples_per_word * static_cast<double>(hash_bytes() / bytes());
    if (shared >= least) return become_words(room, helpers);
  }
  if (narrow_takes_no_more()) return become_narrow(room, helpers);
  std::visit([&](auto& set) { set.grow(room, helpers); }, set_);
}

/// Returns whether a narrow set is possible and not larger than the present set of tuples.
bool packed_rows::narrow_takes_no_more() const {
  if (!std::holds_alternative<packed_set>(set_) || !bounds_ || rows_->options.sets != set_choice::automatic)
    return false;
  const std::uint64_t least = narrow_set::least_slots(*bounds_);
  return least != 0 && least * sizeof(narrow_set::slot) <= bytes();
}

/// @return whether memory suffices for a matrix
bool packed_rows::become_bits(const workers& helpers) {
  memory_resource& resource = *rows_->resource;
  if (bounds_->bytes() > largest_matrix(rows_->options.sets, memory_, resource.used())) return false;
  try {
    bit_set bits(resource, *bounds_);
    insert_all_rows(bits, 0, helpers);
    set_.emplace<bit_set>(std::move(bits));
  } catch (const backend::memory_exceeded&) {
    memory_ = 0;
    return false;
  }
  return true;
}

/// Becomes a set of words or, without sufficient memory, a new hash set; makes room for `room` more tuples.
void packed_rows::become_words(std::uint64_t room, const workers& helpers) {
  // Smaller than the set it replaces. A failure loses nothing, because the rows contain all tuples.
  try {
    return insert_all_rows(set_.emplace<word_set>(*rows_->resource, *bounds_), room, helpers);
  } catch (const backend::memory_exceeded&) {
    bounds_.reset();
  }
  become_hash(room, helpers);
}

/// Becomes a narrow set or, without sufficient memory, a new hash set; makes room for `room` more tuples.
void packed_rows::become_narrow(std::uint64_t room, const workers& helpers) {
  try {
    return insert_all_rows(set_.emplace<narrow_set>(*rows_->resource, *bounds_, rows_->end() + room), room, helpers);
  } catch (const backend::memory_exceeded&) {
    become_hash(room, helpers);
  }
}

void packed_rows::become_hash(std::uint64_t room, const workers& helpers) {
  insert_all_rows(set_.emplace<packed_set>(*rows_->resource, rows_->arity()), room, helpers);
}

/// Inserts all rows into the set and makes room for `room` more tuples.
template <class Set>
void packed_rows::insert_all_rows(Set& set, std::uint64_t room, const workers& helpers) {
  const std::vector<const word*> columns = rows_->pointers();
  const auto make_room = [&](std::uint64_t n) {
    if (!set.has_room(n)) set.grow(n, helpers);
  };
  if (helpers.workers() == 1) {
    insert_rows<exclusive_access>(set, columns, 0, rows_->end(), make_room);
    return make_room(room);
  }
  for (std::uint64_t begin = 0; begin < rows_->end(); begin += calibration::rows_between_growths) {
    const std::uint64_t n = std::min(calibration::rows_between_growths, rows_->end() - begin);
    make_room(n);
    helpers.for_each_range(n, [&](std::uint64_t, std::uint64_t first, std::uint64_t last) {
      insert_rows<concurrent_access>(set, columns, begin + first, begin + last, [](std::uint64_t) {});
    });
  }
  make_room(room);
}

}  // namespace gpulog::storage
