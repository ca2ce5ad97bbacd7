#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backend/array.hpp"
#include "backend/gpu/device.hpp"
#include "storage/relation/relation_options.hpp"
#include "storage/representation/device_representation.hpp"

namespace gpulog::storage::gpu {

/// The tuple set of a relation in device memory: for tuples of at most two words a hash table of tuples, a bit matrix,
/// or a hash table of the matrix's words, like packed_rows; for wider tuples a hash table of rows.
class device_set {
 public:
  device_set(const backend::gpu::device_context& context, memory_resource& resource, set_choice sets);

  /// Implements storage::relation::bound_values().
  /// @return whether a set without room has replaced the set
  bool bound_values(const set_view& rows, std::uint64_t n, const std::vector<std::uint64_t>& bounds,
                    std::uint64_t memory);

  [[nodiscard]] const char* name() const {
    if (bits_.size() != 0) return "bits";
    if (is_words_) return "words";
    return slots_.size() != 0 ? "hash" : "";
  }
  [[nodiscard]] std::uint64_t bytes() const { return slots_.bytes() + bits_.bytes(); }
  [[nodiscard]] std::uint64_t bytes_per_row() const { return bits_.size() != 0 ? 0 : slots_per_row * sizeof(word) * 2; }
  /// Returns the fraction of rows for which room is requested: words for candidates that are mostly duplicates or
  /// neighbours would be wasted.
  [[nodiscard]] std::uint64_t growth_share() const { return is_words_ ? 8 : 2; }
  void show(set_view& view) const;
  std::uint64_t extend(const set_view& rows, std::uint64_t n, std::uint64_t limit, std::uint64_t extra, bool keep);
  void settle(const set_view&, std::uint64_t, std::uint64_t) {}
  void release_outgrown() { outgrown_.clear(); }
  void release();

 private:
  /// A set is at most half full: probes stay short, and duplicates dominate.
  static constexpr std::uint64_t slots_per_row = 2;

  [[nodiscard]] set_view over(set_view rows) const {
    show(rows);
    return rows;
  }
  bool become_bits(const set_view& rows, std::uint64_t n, bool keep);
  bool become_words(const set_view& rows, std::uint64_t n, std::uint64_t slots, bool keep);
  [[nodiscard]] std::uint64_t used_slots() const;
  std::uint64_t make_word_room(std::uint64_t extra, bool keep);
  void rehash(const set_view& rows, std::uint64_t n, std::uint64_t capacity, bool keep);
  void insert_rows(const set_view& rows, std::uint64_t n);

  const backend::gpu::device_context* context_;
  memory_resource* resource_;
  set_choice sets_;
  std::optional<bit_matrix_shape> bounds_;  // shape of a matrix that may become the set
  std::uint64_t memory_ = 0;                // limit for all relations
  array<std::uint32_t> bits_;               // the set, instead of slots
  bool is_words_ = false;                   // slots are words
  bool few_share_words_ = false;            // whether words are not worthwhile
  array<std::uint64_t> slots_;
  std::vector<array<std::uint64_t>> outgrown_;
  array<std::uint32_t> has_zero_;
};
static_assert(device_representation<device_set>);

}  // namespace gpulog::storage::gpu
