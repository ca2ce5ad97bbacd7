#pragma once

#include <cstdint>
#include <vector>

#include "backend/array.hpp"
#include "backend/gpu/device.hpp"
#include "storage/representation/device_representation.hpp"

namespace gpulog::storage::gpu {

using backend::array;

/// The set of a relation of which one row of a key stays, the best (storage/representation/best_rows.hpp), in device
/// memory: a hash table of keys of two words at most, and for each the rank of its best value. A candidate is compared
/// where it is produced; a key that gets better in a phase gets one row, behind the relation's others, whose value is
/// filled in when the phase ends. Rows of worse values stay in the columns until they are more than half of all.
class device_best {
 public:
  /// @param flip combined with a value by exclusive or gives its rank: smaller ones are better
  device_best(const backend::gpu::device_context& context, memory_resource& resource, std::uint32_t column, word flip);

  [[nodiscard]] const char* name() const { return capacity_ != 0 ? "hash" : ""; }
  [[nodiscard]] std::uint64_t bytes() const { return keys_.bytes() + best_.bytes() + shown_.bytes(); }
  [[nodiscard]] static std::uint64_t bytes_per_row() { return slots_per_key * sizeof(std::uint64_t); }
  [[nodiscard]] static std::uint64_t growth_share() { return 2; }
  void show(set_view& view) const;
  std::uint64_t extend(const set_view&, std::uint64_t, std::uint64_t limit, std::uint64_t, bool keep);
  /// The rows get their values, and replace what their keys had.
  void settle(const set_view& rows, std::uint64_t begin, std::uint64_t end);
  void release_outgrown() { outgrown_.clear(); }
  void release();

  /// Rows whose keys have better ones. Waits for the device.
  [[nodiscard]] std::uint64_t stale_rows() const { return context_->read_counter(stale_.data()); }
  /// The rows below `rows` that are tuples, in order. Afterwards stale_rows() is 0. Waits for the device.
  [[nodiscard]] array<std::uint64_t> select_tuples(const set_view& set, std::uint64_t rows, std::uint64_t& selected);
  /// Whether looking for stale rows is worth it. @param rows of the relation
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
  array<std::uint64_t> best_;   // by slot, and one behind for the key that looks like a free slot
  array<std::uint64_t> shown_;  // the same
  array<std::uint64_t> stale_;
  std::uint64_t compacted_rows_ = 0;
  std::vector<array<std::uint64_t>> outgrown_;
};
static_assert(device_representation<device_best>);

}  // namespace gpulog::storage::gpu
