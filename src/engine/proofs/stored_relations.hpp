#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "backend/array.hpp"
#include "engine/rows/column_index.hpp"
#include "support/ids.hpp"

namespace gpulog::detail {

class evaluations;
class fact_store;
struct run_context;

/// The tuples of an evaluation, searchable by any columns. Indexes are built on first use.
class stored_relations {
 public:
  stored_relations(run_context& context, const evaluations& results, const fact_store& facts)
      : context_(&context), results_(&results), given_(&facts) {}

  [[nodiscard]] std::uint64_t rows(relation_id relation) const;
  /// Returns the columns of a relation. The pairs of an equivalence relation are built on first use.
  /// @throws memory_limit_error
  [[nodiscard]] const std::vector<const word*>& columns(relation_id relation);
  /// @param columns at least one, ascending
  [[nodiscard]] const column_index& index(relation_id relation, const std::vector<std::uint32_t>& columns);
  [[nodiscard]] bool contains(relation_id relation, std::span<const word> row);
  /// Returns whether the tuple was given rather than derived.
  [[nodiscard]] bool is_fact(relation_id relation, std::span<const word> row);

 private:
  struct table {
    std::vector<backend::array<word>> memory;
    std::vector<const word*> columns;
    std::unique_ptr<column_index> rows;  ///< on all columns
  };
  [[nodiscard]] table pairs_of(relation_id relation) const;
  [[nodiscard]] table facts_of(relation_id relation) const;

  run_context* context_;
  const evaluations* results_;
  const fact_store* given_;
  std::map<relation_id, table> pairs_;  ///< for equivalence relations
  std::map<relation_id, table> facts_;  ///< facts of relations that also have rules
  std::map<std::pair<relation_id, std::vector<std::uint32_t>>, column_index> indexes_;
};

}  // namespace gpulog::detail
