#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "storage/hisa/hisa_index.hpp"
#include "storage/relation/device_columns.hpp"

namespace gpulog::storage::gpu {

/// The destination of a join's candidates: the position *tail.
struct candidate_view {
  std::uint64_t* keys = nullptr;  ///< packed tuples of one or two words
  word* columns = nullptr;        ///< wider tuples: [column][stride]
  std::uint64_t stride = 0;
  std::uint64_t* tail = nullptr;
  word* used_bits = nullptr;  ///< [column]
};

struct packed_rows;

/// storage::relation in device memory, as published (article, sections 4 and 5): a data array, all tuples as a sorted
/// index array over it with a hash table on the first column, and `new` with duplicates. settle() sorts new, removes
/// duplicates, removes tuples of full (populate delta) and merges the remaining tuples into full. New is a buffer of
/// bounded size that is settled whenever it is full.
class hisa_relation : public device_columns {
 public:
  struct options {
    buffer_policy buffers;
    std::uint64_t candidate_rows = 1u << 20;  ///< capacity of new
  };

  hisa_relation(hisa_workspace& space, std::uint32_t arity, const options& chosen);

  [[nodiscard]] std::uint64_t bytes() const;

  /// Returns whether tuples of one or two words are packed into one.
  [[nodiscard]] bool is_packed() const { return arity_ == 1 || arity_ == 2; }
  /// Makes room for at least one candidate, and for `wanted` candidates if possible: grows or, failing that, settles.
  /// @return the number of candidates that fit
  /// @throws memory_exceeded
  std::uint64_t make_candidate_room(std::uint64_t wanted);
  [[nodiscard]] candidate_view candidates();
  /// Registers that at most this many candidates are being written.
  void expect(std::uint64_t candidates) { expected_ += candidates; }
  /// Populates delta and merges.
  /// @throws memory_exceeded
  void settle();
  [[nodiscard]] hisa_set_view set() const;
  /// Frees replaced columns; no running kernel may read them.
  void release_outgrown() { outgrown_columns_.clear(); }

  void complete() {
    device_columns::complete();
    release_candidates();
  }

  std::size_t add_index(index_layout layout);
  [[nodiscard]] const hisa_index& index(std::size_t number) const { return *indexes_[number]; }
  void refresh_index(std::size_t number);
  void drop_index(std::size_t number);
  void drop_set();

  /// Takes over distinct rows into an empty relation that receives no insertions and no tuple lookups, and therefore
  /// has no set.
  /// @param columns columns on the host
  /// @throws memory_exceeded
  void adopt(const std::vector<const word*>& columns, std::uint64_t rows);

 private:
  [[nodiscard]] std::uint64_t candidate_capacity() const;
  void grow_candidates(std::uint64_t capacity);
  void release_candidates();
  std::uint64_t read_candidates();
  void deduplicate(std::uint64_t n);
  packed_rows sort_packed(std::uint64_t n);
  template <class Rows>
  void add_new(const Rows& sorted, std::uint64_t n);
  void reserve_rows(std::uint64_t fresh);
  void merge(std::uint64_t fresh, std::uint64_t new_keys);

  hisa_workspace* space_;
  options options_;
  // All tuples, sorted.
  array<std::uint32_t> positions_;
  array<std::uint32_t> spare_positions_;
  hisa_level first_column_;
  // The buffer `new`.
  array<std::uint64_t> candidate_keys_;
  array<word> candidate_columns_;
  std::uint64_t candidate_stride_ = 0;
  array<std::uint64_t> counters_;  // number of candidates, then the used bits of each column, two per word
  std::uint64_t expected_ = 0;     // upper bound of the number of candidates
  std::vector<word> used_bits_;
  std::uint64_t sorted_begin_ = 0;  // start of the last batch
  std::vector<std::unique_ptr<hisa_index>> indexes_;
};

}  // namespace gpulog::storage::gpu
