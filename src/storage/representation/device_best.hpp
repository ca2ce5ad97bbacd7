#pragma once

#include <cstdint>
#include <vector>

#include "backend/array.hpp"
#include "backend/gpu/device.hpp"
#include "storage/representation/device_representation.hpp"

namespace gpulog::storage::gpu {

using backend::array;

/// The set of a relation that keeps the best row per key (storage/representation/best_rows.hpp), in device memory: a
/// hash table of keys of at most two words with the rank of each key's best value. Kernels compare candidates where
/// they are produced; a key that improves in a phase gets one new row at the end of the relation, whose value is filled
/// in at the end of the phase. Rows with worse values stay in the columns until they exceed half of all rows.
class device_best {
 public:
  /// @param flip exclusive-or mask that converts a value to its rank: smaller ranks are better
  device_best(const backend::gpu::device_context& context, memory_resource& resource, std::uint32_t column, word flip);

  [[nodiscard]] const char* name() const { return capacity_ != 0 ? "hash" : ""; }
  [[nodiscard]] std::uint64_t bytes() const { return keys_.bytes() + best_.bytes() + shown_.bytes(); }
  [[nodiscard]] static std::uint64_t bytes_per_row() { return slots_per_key * sizeof(std::uint64_t); }
  [[nodiscard]] static std::uint64_t growth_share() { return 2; }
  void show(set_view& view) const;
  std::uint64_t extend(const set_view&, std::uint64_t, std::uint64_t limit, std::uint64_t, bool keep);
  /// Fills in the values of the new rows, which replace the keys' previous rows.
  void settle(const set_view& rows, std::uint64_t begin, std::uint64_t end);
  void release_outgrown() { outgrown_.clear(); }
  void release();

  /// Returns the number of rows whose keys have better rows. Waits for the device.
  [[nodiscard]] std::uint64_t stale_rows() const { return context_->read_counter(stale_.data()); }
  /// Returns the rows below `rows` that are tuples, in order, and sets stale_rows() to 0. Waits for the device.
  [[nodiscard]] array<std::uint64_t> select_tuples(const set_view& set, std::uint64_t rows, std::uint64_t& selected);
  /// Returns whether searching for stale rows is worthwhile.
  /// @param rows number of rows in the relation
  [[nodiscard]] bool is_worth_compacting(std::uint64_t rows) const;
  void set_compacted(std::uint64_t rows) { compacted_rows_ = rows; }

 private:
  static constexpr std::uint64_t slots_per_key = 2;

  [[nodiscard]] array<std::uint64_t> filled(std::uint64_t size) const;

  const backend::gpu::device_context* context_;
  memory_resource* resource_;
  std::uint32_t column_;
  word flip_;
  std::uint64_t capacity_ = 0;
  array<std::uint64_t> keys_;   // by slot
  array<std::uint64_t> best_;   // by slot, with one extra entry for the key that equals a free slot
  array<std::uint64_t> shown_;  // likewise
  array<std::uint64_t> stale_;
  std::uint64_t compacted_rows_ = 0;
  std::vector<array<std::uint64_t>> outgrown_;
};
static_assert(device_representation<device_best>);

}  // namespace gpulog::storage::gpu
