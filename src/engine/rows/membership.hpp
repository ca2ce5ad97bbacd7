#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "backend/array.hpp"
#include "exec/executor.hpp"
#include "support/ids.hpp"

/// Membership tests after the evaluation. Tuple sets are freed by then, or are on a device, so these structures are
/// built on first use.
namespace gpulog::detail {

/// Finds rows by all of their words: a table of row numbers with linear probing.
class row_index {
 public:
  /// @param columns must not change, and must outlive this object
  /// @throws backend::memory_exceeded
  row_index(std::vector<const word*> columns, std::uint64_t rows, backend::memory_resource& memory);

  [[nodiscard]] bool contains(std::span<const word> row) const;

 private:
  [[nodiscard]] bool is_row(std::uint64_t number, std::span<const word> row) const;

  std::vector<const word*> columns_;
  backend::array<std::uint64_t> slots_;  ///< row numbers + 1; 0: free
};

/// The classes of an equivalence relation, without its pairs.
class element_classes {
 public:
  element_classes(const exec::executor& executor, relation_id relation);

  [[nodiscard]] bool are_equal(word left, word right) const;

 private:
  std::unordered_map<word, word> smallest_;  ///< by element: the smallest element of its class
};

}  // namespace gpulog::detail
