#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "storage/relation/relation.hpp"

/// What keeps the rows of a relation distinct: the tuple set that it is given, and the one that it changes to.
namespace gpulog::storage {

void relation::create_set() {
  if (arity_ == 0) return;
  if (options_.mode == storage_mode::hisa) {
    set_.emplace<hisa_set>(*resource_, arity_, options_.buffers);
    candidates_.clear();
    for (std::uint32_t c = 0; c < arity_; ++c) candidates_.emplace_back(*resource_);
  } else {
    create_hash_set();
  }
}

void relation::create_hash_set() {
  if (is_packed()) {
    set_.emplace<packed_set>(*resource_);
  } else {
    set_.emplace<row_set>(*resource_);
  }
}

void relation::set_choice_domains(std::vector<choice_set::domain> domains) {
  candidates_.clear();
  set_.emplace<choice_set>(*resource_, std::move(domains));
}

void relation::make_erasable() {
  is_erasable_ = true;
  candidates_.clear();
  set_.emplace<row_set>(*resource_);
}

void relation::keep_best(std::uint32_t column, value_order order) {
  make_erasable();
  order.wide = options_.wide;
  best_ = std::make_unique<best_rows>(*resource_, arity_, column, order, std::vector<bounded_column>{});
}

void relation::keep_bounds(std::vector<bounded_column> columns) {
  make_erasable();
  best_ = std::make_unique<best_rows>(*resource_, arity_, 0, value_order{}, std::move(columns));
}

void relation::skip_set() {
  candidates_.clear();
  set_.emplace<std::monostate>();
}

void relation::drop_set() {
  if (arity_ == 0 || equivalence_) return;
  set_.emplace<std::monostate>();
  candidates_.clear();
  for (auto& column : columns_) column.set_capacity(rows_);
}

const char* relation::set_name() const {
  if (std::holds_alternative<bit_set>(set_)) return "bits";
  if (std::holds_alternative<word_set>(set_)) return "words";
  if (std::holds_alternative<hisa_set>(set_)) return "hisa";
  return has_set() ? "hash" : "none";
}

std::uint64_t relation::bytes() const {
  std::uint64_t sum = equivalence_ ? equivalence_->bytes() : 0;
  for (const auto& column : columns_) sum += column.bytes();
  for (const auto& column : candidates_) sum += column.bytes();
  for (const auto& index : indexes_) sum += index->bytes();
  if (const auto* packed = std::get_if<packed_set>(&set_)) sum += packed->bytes();
  if (const auto* bits = std::get_if<bit_set>(&set_)) sum += bits->bytes();
  if (const auto* words = std::get_if<word_set>(&set_)) sum += words->bytes();
  if (const auto* by_row = std::get_if<row_set>(&set_)) sum += by_row->bytes();
  if (const auto* hisa = std::get_if<hisa_set>(&set_)) sum += hisa->bytes();
  if (const auto* choice = std::get_if<choice_set>(&set_)) sum += choice->bytes();
  if (best_) sum += best_->replaced.bytes() + best_->erased.bytes();
  return sum;
}

void relation::bound_values(const std::vector<std::uint64_t>& bounds, std::uint64_t memory) {
  const auto* const packed = std::get_if<packed_set>(&set_);
  if (packed == nullptr || options_.sets == set_choice::hash) return;
  bounds_ = bit_matrix_shape::of(bounds);
  memory_ = memory;
  if (options_.sets == set_choice::words) {
    if (packed_word::can_hold(*bounds_)) become_words(0);
    return;
  }
  const std::uint64_t at_once = std::max(packed->bytes(), set_sizes::small_matrix_bytes);
  if (options_.sets == set_choice::bits || bounds_->bytes() <= at_once) become_bits();
}

/// Makes room in a set of packed tuples, or puts another one in its place where that one would be smaller.
void relation::grow_packed(std::uint64_t room) {
  const bool may_change = bounds_ && options_.sets != set_choice::words;
  const auto may_be_bits = [&](std::uint64_t bytes) {
    return may_change && bounds_->bytes() <= set_sizes::matrix_per_hash * bytes;
  };
  if (std::holds_alternative<word_set>(set_)) {
    auto& words = std::get<word_set>(set_);
    if (words.has_room(room) || (may_be_bits(words.bytes()) && become_bits())) return;
    words.grow(room, options_.workers);
    return;
  }
  auto& packed = std::get<packed_set>(set_);
  if (packed.has_room(room) || (may_be_bits(packed.bytes()) && become_bits())) return;
  const bool may_be_words = bounds_ && options_.sets == set_choice::automatic;
  if (may_be_words && packed.bytes() >= set_sizes::least_packed_bytes && packed_word::can_hold(*bounds_)) {
    const double shared = tuples_per_word(columns().data(), tail_.load(std::memory_order_relaxed), *bounds_);
    if (shared >= set_sizes::tuples_per_word && become_words(room)) return;
  }
  packed.grow(room, options_.workers);
}

/// @return whether there is memory for a matrix
bool relation::become_bits() {
  if (bounds_->bytes() > set_sizes::largest_matrix(options_.sets, memory_, resource_->used())) return false;
  try {
    bit_set bits(*resource_, *bounds_);
    insert_all_rows(bits);
    set_.emplace<bit_set>(std::move(bits));
  } catch (const backend::memory_exceeded&) {
    memory_ = 0;
    return false;
  }
  return true;
}

/// Or a hash set anew, if there is no memory for it. @return true: there is room for more
bool relation::become_words(std::uint64_t room) {
  // It is smaller than what it replaces, and nothing is lost when it is not made: the rows have all tuples.
  const unsigned workers = options_.workers;
  set_.emplace<std::monostate>();
  try {
    auto& words = set_.emplace<word_set>(*resource_, *bounds_);
    insert_all_rows(words);
    if (!words.has_room(room)) words.grow(room, workers);
    return true;
  } catch (const backend::memory_exceeded&) {
    bounds_.reset();
  }
  auto& packed = set_.emplace<packed_set>(*resource_);
  insert_all_rows(packed);
  if (!packed.has_room(room)) packed.grow(room, workers);
  return true;
}

template <class Set>
void relation::insert_all_rows(Set& set) {
  const auto scratch = std::make_unique<insert_scratch>();
  const std::uint64_t rows = tail_.load(std::memory_order_relaxed);
  std::vector<const word*> tile(arity_);
  for (std::uint64_t row = 0; row < rows; row += tile_rows) {
    for (std::uint32_t c = 0; c < arity_; ++c) tile[c] = columns_[c].data() + row;
    const auto n = static_cast<std::uint32_t>(std::min<std::uint64_t>(tile_rows, rows - row));
    if constexpr (!std::is_same_v<Set, bit_set>) {
      if (!set.has_room(n)) set.grow(n, options_.workers);
    }
    if constexpr (std::is_same_v<Set, packed_set>) {
      pack_keys(tile.data(), n, scratch->keys);
      set.template insert<false>(scratch->keys, n, scratch->homes);
    } else {
      set.template insert<false>(tile.data(), n, scratch->keys, scratch->homes);
    }
  }
}

}  // namespace gpulog::storage
