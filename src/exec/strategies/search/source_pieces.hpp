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

/// Splits the sources of factorized device rows into pieces of a few million rows, and holds device columns for one
/// piece.
class source_pieces {
 public:
  static constexpr std::uint64_t rows_of_a_piece = 1U << 22;

  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// @param places_of_sources in device memory: number of rows before each source, with one extra entry
  /// @param make_columns allocates columns for a number of rows
  /// @throws backend::memory_exceeded, leaving the object empty
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

  /// Returns the number of rows before each piece, with one extra entry.
  [[nodiscard]] const std::vector<std::uint64_t>& rows() const { return rows_; }

  /// Copies a piece to host arrays. write(first, last, first_row, columns) materializes the rows of sources [first,
  /// last), starting with row `first_row` of the relation.
  template <class Write>
  void read(const backend::gpu::device_context& context, std::size_t piece, word* const* to, const Write& write) {
    context.use();  // this may run on a different host thread
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
  std::vector<std::uint64_t> sources_;  // by piece: first source
  std::uint64_t largest_ = 0;           // rows of the largest piece
  std::vector<backend::array<word>> columns_;
};

}  // namespace gpulog::exec
