#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "backend/array.hpp"
#include "backend/memory_resource.hpp"
#include "support/ids.hpp"
#include "support/long_vector.hpp"

namespace gpulog::exec {

/// Tuples that stratum_executor::erase() removed. Erased rows stay in the columns and indexes of a relation, as after a
/// subsumption, until half of all rows are erased.
class erased_tuples {
 public:
  explicit erased_tuples(backend::memory_resource& memory) : memory_(&memory) {}

  /// Erases tuples; tuples that the relation lacks have no effect.
  /// @return numbers of the tuples that the relation had
  template <class Relation>
  std::vector<std::uint64_t> erase(Relation& from, relation_id id, const std::vector<const word*>& columns,
                                   std::uint64_t rows) {
    long_vector<std::uint8_t>& marks = marks_[id];
    marks.resize(from.rows());
    std::vector<std::uint64_t> erased;
    std::vector<const word*> values(columns.size());
    for (std::uint64_t row = 0; row < rows; ++row) {
      for (std::size_t c = 0; c < columns.size(); ++c) values[c] = columns[c] + row;
      const auto found = from.find(values.data(), 0);
      if (!found) continue;
      from.erase(*found);
      marks[*found] = 1;
      erased.push_back(row);
    }
    if (2 * from.erased_rows() <= from.rows()) return erased;
    from.compact(marks.data());
    marks.clear();
    return erased;
  }

  /// Returns columns without erased rows, valid until forget_columns().
  template <class Relation>
  [[nodiscard]] std::vector<const word*> remaining(const Relation& of, relation_id id,
                                                   const std::vector<const word*>& columns) {
    if (of.erased_rows() == 0) return columns;
    std::vector<backend::array<word>>& copies = columns_[id];
    if (copies.empty()) {
      long_vector<std::uint8_t>& marks = marks_[id];
      marks.resize(of.rows());
      for (const word* const column : columns) {
        word* to = copies.emplace_back(*memory_, of.tuples()).data();
        for (std::uint64_t row = 0; row < of.rows(); ++row) {
          if (marks[row] == 0) *to++ = column[row];
        }
      }
    }
    std::vector<const word*> result;
    for (const auto& copy : copies) result.push_back(copy.data());
    return result;
  }
  void forget_columns(relation_id id) { columns_.erase(id); }

 private:
  backend::memory_resource* memory_;
  std::map<relation_id, long_vector<std::uint8_t>> marks_;            ///< by row: whether it is erased
  std::map<relation_id, std::vector<backend::array<word>>> columns_;  ///< remaining()
};

}  // namespace gpulog::exec
