#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/evaluation.hpp"
#include "engine/state/state_file.hpp"

namespace gpulog::detail {

/// The rows of a relation in a state file.
struct stored_relation {
  std::uint64_t rows = 0;
  bool has_columns = false;          ///< false: only the number of rows is known
  bool is_complete = false;          ///< false: only rows that were asked for, or none
  std::vector<const word*> columns;  ///< in the mapped file
};

/// An evaluation of an earlier process: only rows, in a mapped file.
class stored_evaluation final : public evaluation {
 public:
  stored_evaluation(run_context& run, std::shared_ptr<const state_file> file, std::vector<stored_relation> relations);

  [[nodiscard]] bool has_all_rows(relation_id relation) const override {
    return relations_[relation.value].is_complete;
  }
  [[nodiscard]] bool has_lasting_rows() const override { return true; }
  [[nodiscard]] const state_file& file() const { return *file_; }

 private:
  std::shared_ptr<const state_file> file_;
  std::vector<stored_relation> relations_;
};

}  // namespace gpulog::detail
