#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gpulog/arrow.hpp"
#include "gpulog/export.hpp"
#include "gpulog/relation.hpp"

namespace gpulog {

namespace detail {
class shown_rows;
}

/// The rows of a query (engine::query), or tuples of a relation (engine::changes). An answer stays valid and unchanged
/// when the engine changes, and keeps the required parts of the engine alive. Cheap to copy.
class GPULOG_API answer {
 public:
  /// Returns the attributes of the relation, or a column per variable of the query outside of aggregates, except
  /// variables that start with an underscore.
  [[nodiscard]] const std::vector<attribute>& attributes() const { return attributes_; }
  /// Returns the number of rows. A query without variables has one row if it holds.
  [[nodiscard]] std::uint64_t size() const;

  /// @throws like relation::column
  [[nodiscard]] host_column column(std::size_t number) const;

  /// Creates a stream of the rows, like relation::to_arrow.
  void to_arrow(ArrowArrayStream& made, const arrow_options& options = {}) const;

 private:
  friend class engine;
  explicit answer(detail::shown_rows&& rows);
  std::shared_ptr<const detail::shown_rows> rows_;
  std::vector<attribute> attributes_;
};

/// The tuples that an evaluation added to a relation and removed (engine::changes). Like answers, they do not change.
struct changed_rows {
  answer added, removed;
};

}  // namespace gpulog
