#include "engine/state/stored_evaluation.hpp"

#include <algorithm>
#include <utility>

#include "support/error.hpp"

namespace gpulog::detail {
namespace {

/// Shows the rows of a state file. Evaluates nothing.
class stored_executor final : public exec::executor {
 public:
  explicit stored_executor(std::vector<stored_relation> relations) : relations_(std::move(relations)) {}

  void load(relation_id, const std::vector<const word*>&, std::uint64_t) override { refuse(); }
  void evaluate() override { refuse(); }
  [[nodiscard]] std::vector<const word*> columns(relation_id relation) override {
    const stored_relation& stored = relations_[relation.value];
    if (stored.rows > 0 && !stored.has_columns)
      throw input_error("the tuples of a relation without .output are not stored");
    return stored.columns;
  }
  [[nodiscard]] std::uint64_t rows(relation_id relation) const override { return relations_[relation.value].rows; }
  [[nodiscard]] std::vector<storage::sampled_rows> sample(const std::vector<relation_id>&, std::uint64_t) override {
    refuse();
  }
  void read_pairs(relation_id relation, std::uint64_t first, std::uint64_t n, word* const* columns) const override {
    for (std::size_t side = 0; side < 2; ++side)
      std::copy_n(relations_[relation.value].columns[side] + first, n, columns[side]);
  }
  [[nodiscard]] const exec::statistics& figures() override { return figures_; }

 private:
  [[noreturn]] static void refuse() { throw internal_error("stored rows are only read"); }

  std::vector<stored_relation> relations_;
  exec::statistics figures_;
};

}  // namespace

stored_evaluation::stored_evaluation(run_context& run, std::shared_ptr<const state_file> file,
                                     std::vector<stored_relation> relations)
    : evaluation(run, {run.source, &run.analysed()}), file_(std::move(file)), relations_(relations) {
  set_executor(std::make_unique<stored_executor>(std::move(relations)));
}

}  // namespace gpulog::detail
