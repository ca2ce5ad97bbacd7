#pragma once

#include <cstdint>
#include <vector>

#include "backend/array.hpp"
#include "backend/gpu/device.hpp"
#include "storage/representation/device_factorized.hpp"
#include "storage/representation/kept_rows.cuh"

namespace gpulog::exec {

/// Rows of a factorized relation of a device that are asked for by numbers of its sources, or of its nodes, and become
/// columns, some at a time. What is asked by nodes goes through all kept rows, as bits, and is brought together by node
/// as a counted run is.
class asked_rows {
 public:
  enum class side : std::uint8_t { sources, nodes };
  struct piece {
    std::uint64_t first = 0;  ///< numbers [first, last)
    std::uint64_t last = 0;
    std::uint64_t first_row = 0;
    std::uint64_t rows = 0;
  };

  /// @param kept behind its lookup(); all outlive it
  asked_rows(const backend::gpu::device_context& context, backend::memory_resource& resource,
             storage::gpu::device_factorized& kept, side by);

  /// Of sources or nodes.
  [[nodiscard]] std::uint64_t numbers() const { return numbers_; }
  /// Bits by number, none so far: a kernel marks those that are asked for. Without a call all are.
  /// @throws backend::memory_exceeded
  [[nodiscard]] std::uint32_t* make_marks();
  /// Behind that kernel: how many rows each has. @throws backend::memory_exceeded
  void count();
  [[nodiscard]] std::uint64_t rows() const { return rows_; }
  /// In device memory, by number, and one behind: rows in front of those that are asked for.
  [[nodiscard]] const std::uint64_t* places() const { return places_.data(); }
  /// Pieces of at most so many rows, or of one number, which have rows.
  [[nodiscard]] std::vector<piece> pieces(std::uint64_t most_rows) const;
  /// In the order of the numbers. @param wanted bits by column of the relation; by nodes, source columns only
  /// @return by column of the relation @throws backend::memory_exceeded
  [[nodiscard]] std::vector<backend::array<word>> columns_of(const piece& part, std::uint64_t wanted);

 private:
  void count_sources();
  void count_nodes();
  [[nodiscard]] std::vector<backend::array<word>> columns_by_node(const piece& part, std::uint64_t wanted);

  const backend::gpu::device_context* context_;
  backend::memory_resource* resource_;
  storage::gpu::device_factorized* kept_;
  side by_;
  const storage::gpu::kept_rows_view* view_;
  std::uint64_t numbers_;
  backend::array<std::uint32_t> marks_;
  backend::array<std::uint64_t> places_;  // and one more: how many sources are listed
  backend::array<std::uint32_t> listed_;  // sources that are marked
  std::uint64_t rows_ = 0;
  std::uint64_t listed_count_ = 0;
};

/// Columns of values of the first numbers of an array, so many rows. @param wanted bits by column of the relation
/// @param made by column of the relation: what is wanted is added
void add_columns_of_numbers(const backend::gpu::device_context& context, backend::memory_resource& resource,
                            const storage::gpu::numbered_columns& numbered, backend::array<std::uint32_t> numbers,
                            std::uint64_t rows, std::uint64_t wanted, std::vector<backend::array<word>>& made);

}  // namespace gpulog::exec
