#pragma once

#include <cstdint>
#include <vector>

#include "backend/array.hpp"
#include "backend/piece_runner.hpp"
#include "support/ids.hpp"

namespace gpulog::kernels {

/// Tuples that get numbers.
struct numbered_tuples {
  std::vector<const word*> columns;  ///< one a column of the tuple
  std::uint64_t rows = 0;
  std::uint32_t first = 0;           ///< is added to each number
  std::uint32_t* numbers = nullptr;  ///< where not null: by tuple
};

/// Gives different tuples of some columns the numbers 0, 1, 2, ... in the order in which they come: neighbours in a
/// file often belong together, whatever their values are. Values that are small and are all added at once have a table
/// with a place for each, which several workers fill.
class tuple_numbering {
 public:
  static constexpr std::uint32_t none = UINT32_MAX;

  /// @param arity at least one
  tuple_numbering(backend::memory_resource& resource, std::size_t arity);
  /// Values of one column that have their numbers already: by number. None is found or added.
  explicit tuple_numbering(backend::array<word> values);

  /// @param columns one a column of the tuple
  /// @param numbers where not null: numbers[i] = first + the number of tuple i. @throws backend::memory_exceeded
  void add(const std::vector<const word*>& columns, std::uint64_t rows, std::uint32_t first = 0,
           std::uint32_t* numbers = nullptr);
  /// All tuples there will be, in an empty numbering. @throws backend::memory_exceeded
  void add_all(const backend::piece_runner& workers, const std::vector<numbered_tuples>& tuples);
  /// numbers[i] = first + the number of tuple i; one that has none: none. Any number of threads at a time.
  void find(const std::vector<const word*>& columns, std::uint64_t rows, std::uint32_t first,
            std::uint32_t* numbers) const;
  /// Fewer than 2^32 - 2; more are not taken.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] bool is_full() const { return is_full_; }
  /// Of all tuples, by number.
  [[nodiscard]] std::vector<const word*> columns() const;

  /// All values of tuples of one column are below this.
  [[nodiscard]] static std::uint64_t bound_of(const backend::piece_runner& workers,
                                              const std::vector<numbered_tuples>& tuples);

 private:
  /// Tuples whose slots are fetched together.
  static constexpr std::uint64_t batch = 32;

  void add_by_value(const backend::piece_runner& workers, const std::vector<numbered_tuples>& tuples,
                    std::uint64_t bound);
  void number_first_rows(const backend::piece_runner& workers, const std::vector<numbered_tuples>& tuples);
  [[nodiscard]] std::uint64_t hash(const word* const* columns, std::uint64_t row) const;
  [[nodiscard]] bool is_tuple(std::uint32_t number, const word* const* columns, std::uint64_t row) const;
  /// Where the tuple is or would be.
  [[nodiscard]] std::uint64_t slot_of(std::uint64_t hash, const word* const* columns, std::uint64_t row) const;
  void grow();

  std::vector<backend::array<word>> columns_;
  backend::array<std::uint32_t> slots_;  // number + 1; 0: free. By hash, or by value where is_by_value_
  bool is_by_value_ = false;
  std::uint64_t size_ = 0;
  bool is_full_ = false;
};

}  // namespace gpulog::kernels
