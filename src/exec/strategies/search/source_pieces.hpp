#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpulog::exec {

/// Sources of factorized rows in pieces of some million rows, each of whole sources.
class source_pieces {
 public:
  static constexpr std::uint64_t rows_of_a_piece = 1U << 22;

  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// @param places rows in front of each source, and one behind
  void make(const std::vector<std::uint64_t>& places) {
    rows_ = sources_ = {0};
    for (std::uint64_t source = 0; source + 1 < places.size(); ++source) {
      const std::uint64_t here = places[source + 1] - rows_.back();
      if (here < rows_of_a_piece && source + 2 != places.size()) continue;
      largest_ = std::max(largest_, here);
      rows_.push_back(places[source + 1]);
      sources_.push_back(source + 1);
    }
  }

  /// In front of each piece, and one behind.
  [[nodiscard]] const std::vector<std::uint64_t>& rows() const { return rows_; }
  [[nodiscard]] std::uint64_t rows_of(std::size_t piece) const { return rows_[piece + 1] - rows_[piece]; }
  [[nodiscard]] std::uint64_t first_source(std::size_t piece) const { return sources_[piece]; }
  /// Rows of the largest piece.
  [[nodiscard]] std::uint64_t largest() const { return largest_; }

 private:
  std::vector<std::uint64_t> rows_;
  std::vector<std::uint64_t> sources_;  // the same
  std::uint64_t largest_ = 0;
};

}  // namespace gpulog::exec
