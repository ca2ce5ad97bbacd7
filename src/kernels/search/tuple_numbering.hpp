#pragma once

#include <cstdint>
#include <vector>

#include "backend/array.hpp"
#include "backend/piece_runner.hpp"
#include "support/ids.hpp"

namespace gpulog::kernels {

/// Tuples to number.
struct numbered_tuples {
  std::vector<const word*> columns;  ///< one per column of the tuple
  std::uint64_t rows = 0;
  std::uint32_t first = 0;           ///< added to each number
  std::uint32_t* numbers = nullptr;  ///< output by tuple, if not null
};

/// Assigns the numbers 0, 1, 2, ... to distinct tuples in the order of their first appearance: neighbours in a file
/// often belong together, whatever their values. Small values that are added all at once use a table over all values,
/// filled by several workers.
class tuple_numbering {
 public:
  static constexpr std::uint32_t none = UINT32_MAX;

  /// @param arity at least 1
  tuple_numbering(backend::memory_resource& resource, std::size_t arity);
  /// Single-column values that already have numbers: `values` by number. Does not support find() or add().
  explicit tuple_numbering(backend::array<word> values);

  /// @param columns one per column of the tuple
  /// @param numbers if not null: numbers[i] = first + the number of tuple i
  /// @throws backend::memory_exceeded
  void add(const std::vector<const word*>& columns, std::uint64_t rows, std::uint32_t first = 0,
           std::uint32_t* numbers = nullptr);
  /// Adds all tuples to an empty numbering; no tuple may be added later.
  /// @throws backend::memory_exceeded
  void add_all(const backend::piece_runner& workers, const std::vector<numbered_tuples>& tuples);
  /// numbers[i] = first + the number of tuple i, or none. Thread-safe.
  void find(const std::vector<const word*>& columns, std::uint64_t rows, std::uint32_t first,
            std::uint32_t* numbers) const;
  /// Returns the number of tuples, fewer than 2^32 - 2; add() ignores further tuples.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] bool is_full() const { return is_full_; }
  /// Returns the columns of all tuples, by number.
  [[nodiscard]] std::vector<const word*> columns() const;

  /// Returns an exclusive bound of all values of single-column tuples.
  [[nodiscard]] static std::uint64_t bound_of(const backend::piece_runner& workers,
                                              const std::vector<numbered_tuples>& tuples);

 private:
  /// Tuples whose slots are prefetched together.
  static constexpr std::uint64_t batch = 32;

  void add_by_value(const backend::piece_runner& workers, const std::vector<numbered_tuples>& tuples,
                    std::uint64_t bound);
  void number_first_rows(const backend::piece_runner& workers, const std::vector<numbered_tuples>& tuples);
  [[nodiscard]] std::uint64_t hash(const word* const* columns, std::uint64_t row) const;
  [[nodiscard]] bool is_tuple(std::uint32_t number, const word* const* columns, std::uint64_t row) const;
  /// Returns the slot with the tuple, or the free slot for the tuple.
  [[nodiscard]] std::uint64_t slot_of(std::uint64_t hash, const word* const* columns, std::uint64_t row) const;
  void grow();

  std::vector<backend::array<word>> columns_;
  backend::array<std::uint32_t> slots_;  // number + 1; 0: free. By hash, or by value if is_by_value_
  bool is_by_value_ = false;
  std::uint64_t size_ = 0;
  bool is_full_ = false;
};

}  // namespace gpulog::kernels
