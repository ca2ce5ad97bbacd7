#pragma once

#include <cstdint>
#include <vector>

#include "backend/array.hpp"
#include "backend/gpu/device.hpp"
#include "storage/representation/device_row_matrix.hpp"
#include "storage/representation/kept_rows.cuh"

namespace gpulog::exec {

/// Materializes the factorized rows of requested sources or nodes as columns, piece by piece. A request by nodes reads
/// all factorized rows as bits and groups the rows by node, like a counted run.
class asked_rows {
 public:
  enum class side : std::uint8_t { sources, nodes };
  struct piece {
    std::uint64_t first = 0;  ///< numbers [first, last)
    std::uint64_t last = 0;
    std::uint64_t first_row = 0;
    std::uint64_t rows = 0;
  };

  /// @param kept after a call of lookup(); all arguments must outlive this object
  asked_rows(const backend::gpu::device_context& context, backend::memory_resource& resource,
             storage::gpu::device_row_matrix& kept, side by);

  /// Returns the number of sources or nodes.
  [[nodiscard]] std::uint64_t numbers() const { return numbers_; }
  /// Returns a bitmap over the numbers, all zero, in which a kernel marks the requested numbers. Without a call, all
  /// numbers are requested.
  /// @throws backend::memory_exceeded
  [[nodiscard]] std::uint32_t* make_marks();
  /// Counts the rows of each requested number. Call after the marking kernel.
  /// @throws backend::memory_exceeded
  void count();
  [[nodiscard]] std::uint64_t rows() const { return rows_; }
  /// Returns, in device memory and by number, the count of requested rows before each number; the last entry is the
  /// total.
  [[nodiscard]] const std::uint64_t* places() const { return places_.data(); }
  /// Returns the nonempty pieces, each of at most `most_rows` rows or of a single number.
  [[nodiscard]] std::vector<piece> pieces(std::uint64_t most_rows) const;
  /// Materializes the columns of a piece in the order of the numbers.
  /// @param wanted bit set over the relation's columns; for a request by nodes, only source columns
  /// @return by column of the relation
  /// @throws backend::memory_exceeded
  [[nodiscard]] std::vector<backend::array<word>> columns_of(const piece& part, std::uint64_t wanted);

 private:
  void count_sources();
  void count_nodes();
  [[nodiscard]] std::vector<backend::array<word>> columns_by_node(const piece& part, std::uint64_t wanted);

  const backend::gpu::device_context* context_;
  backend::memory_resource* resource_;
  storage::gpu::device_row_matrix* kept_;
  side by_;
  const storage::gpu::kept_rows_view* view_;
  std::uint64_t numbers_;
  backend::array<std::uint32_t> marks_;
  backend::array<std::uint64_t> places_;  // one extra entry: the number of listed sources
  backend::array<std::uint32_t> listed_;  // marked sources
  std::uint64_t rows_ = 0;
  std::uint64_t listed_count_ = 0;
};

/// Adds columns with the values of the first `rows` numbers of an array.
/// @param wanted bit set over the relation's columns
/// @param made by column of the relation; receives the wanted columns
void add_columns_of_numbers(const backend::gpu::device_context& context, backend::memory_resource& resource,
                            const storage::gpu::numbered_columns& numbered, backend::array<std::uint32_t> numbers,
                            std::uint64_t rows, std::uint64_t wanted, std::vector<backend::array<word>>& made);

}  // namespace gpulog::exec
