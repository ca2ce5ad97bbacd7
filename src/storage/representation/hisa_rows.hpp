#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "storage/calibration.hpp"
#include "storage/hisa/hisa_set.hpp"
#include "storage/representation/representation.hpp"

namespace gpulog::storage {

[[nodiscard]] inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Rows as published: candidates are collected, and sorted and merged into the set when their number is large and at
/// the end of a phase.
class hisa_rows : public row_representation {
 public:
  static constexpr representation_abilities abilities{};
  explicit hisa_rows(column_store& rows)
      : row_representation(rows),
        set_(*rows.resource, rows.arity(), rows.options.buffers),
        candidates_(*rows.resource, rows.arity(), rows.options) {}

  [[nodiscard]] static const char* name() { return "hisa"; }
  [[nodiscard]] std::uint64_t bytes() const { return set_.bytes() + candidates_.bytes(); }
  [[nodiscard]] bool has_room(std::uint64_t room) const { return candidates_.has_room(room); }
  template <class Backend>
  void make_room(Backend& backend, std::uint64_t room, const backend::piece_runner&) {
    const std::uint64_t capacity = candidates_.capacity();
    const std::uint64_t wanted = wanted_candidates();
    if (capacity >= wanted + room) return settle(backend);
    candidates_.reserve(std::min(wanted, capacity * 4 + 4096) + room);
  }
  /// @return 0: the number is unknown before the end of the phase
  template <class Access>
  std::uint32_t insert(const word* const* values, std::uint32_t n, insert_scratch&, unsigned) {
    candidates_.append<Access>(values, n);
    return 0;
  }
  void contains(const word* const* values, std::uint32_t n, insert_scratch&, std::uint8_t* found) const {
    const column_pointers tuples(values, values + rows_->arity());
    const column_pointers data = rows_->pointers();
    for (std::uint32_t i = 0; i < n; ++i) found[i] = set_.contains(data, tuples, i) ? 1 : 0;
  }
  template <class Backend>
  void settle(Backend& backend) {
    const std::uint64_t n = candidates_.tail.exchange(0);
    if (n == 0) return;
    const double start = seconds_now();
    const column_pointers candidates = candidates_.pointers();
    array<std::uint32_t> selected(*rows_->resource);
    array<std::uint32_t> ranks(*rows_->resource);
    const std::uint64_t fresh = set_.select_new(backend, rows_->pointers(), candidates, n, selected, ranks);
    const std::uint64_t tail = rows_->end();
    rows_->make_room(fresh);
    for (std::uint32_t c = 0; c < rows_->arity(); ++c)
      backend.gather(candidates[c], selected.data(), fresh, rows_->columns[c].data() + tail);
    rows_->set_end(tail + fresh);
    selected.release();
    const double populated = seconds_now();
    set_.merge(backend, rows_->pointers(), tail, ranks);
    rows_->times.populate_delta += populated - start;
    rows_->times.merge += seconds_now() - populated;
  }

 private:
  /// Returns the number of candidates between two deduplications. Each deduplication merges into full, that is, copies
  /// full: therefore the buffer grows with full, never with the candidates.
  [[nodiscard]] std::uint64_t wanted_candidates() const {
    const std::uint64_t least = rows_->options.candidate_rows;
    return rows_->resource->limit() != 0 ? least : std::max(least, rows_->end() / calibration::hisa_candidate_share);
  }

  hisa_set set_;
  column_store candidates_;
};
static_assert(representation<hisa_rows>);

}  // namespace gpulog::storage
