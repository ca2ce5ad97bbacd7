#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "backend/array.hpp"
#include "backend/gpu/device.hpp"
#include "backend/gpu/staging_ring.hpp"
#include "support/ids.hpp"

namespace gpulog::exec {

/// Sources of factorized rows of a device in pieces of some million rows, each of whole sources, and the columns in
/// device memory that a piece is made in.
class source_pieces {
 public:
  static constexpr std::uint64_t rows_of_a_piece = 1U << 22;

  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// @param places_of_sources in device memory: rows in front of each source, and one behind
  /// @param make_columns makes columns of so many rows @throws backend::memory_exceeded, and it stays empty
  template <class MakeColumns>
  void make(const backend::gpu::device_context& context, const backend::array<std::uint64_t>& places_of_sources,
            const MakeColumns& make_columns) {
    std::vector<std::uint64_t> places(places_of_sources.size());
    context.read(places_of_sources.data(), places.data(), places_of_sources.bytes());
    source_pieces made;
    made.divide(places);
    made.columns_ = make_columns(made.largest_);
    *this = std::move(made);
  }

  /// In front of each piece, and one behind.
  [[nodiscard]] const std::vector<std::uint64_t>& rows() const { return rows_; }

  /// Copies a piece to arrays of the host. write(first, last, first_row, columns) makes the rows of sources
  /// [first, last), the first of which is `first_row` of the relation.
  template <class Write>
  void read(const backend::gpu::device_context& context, std::size_t piece, word* const* to, const Write& write) {
    context.use();  // on this thread, too
    write(sources_[piece], sources_[piece + 1], rows_[piece], columns_);
    for (std::size_t c = 0; c < columns_.size(); ++c)
      backend::gpu::download(context, columns_[c].data(), to[c], rows_[piece + 1] - rows_[piece]);
  }

 private:
  void divide(const std::vector<std::uint64_t>& places) {
    rows_ = sources_ = {0};
    for (std::uint64_t source = 0; source + 1 < places.size(); ++source) {
      const std::uint64_t here = places[source + 1] - rows_.back();
      if (here < rows_of_a_piece && source + 2 != places.size()) continue;
      largest_ = std::max(largest_, here);
      rows_.push_back(places[source + 1]);
      sources_.push_back(source + 1);
    }
  }

  std::vector<std::uint64_t> rows_;
  std::vector<std::uint64_t> sources_;  // the same
  std::uint64_t largest_ = 0;           // rows of the largest one
  std::vector<backend::array<word>> columns_;
};

}  // namespace gpulog::exec
