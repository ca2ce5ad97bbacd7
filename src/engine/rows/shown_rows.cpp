#include "engine/rows/shown_rows.hpp"

#include <algorithm>
#include <utility>

namespace gpulog::detail {

shown_rows::shown_rows(std::shared_ptr<engine_state> engine, std::uint32_t relation)
    : shown_(std::make_shared<shown_evaluation>()),
      relation_(relation),
      declared_(engine->run().source, &engine->run().relation(relation)),
      rows_(engine->results().rows(relation)) {
  shown_->engine = std::move(engine);
  const run_context& run = shown_->engine->run();
  const evaluations& results = shown_->engine->results();
  if (results.has_results_of(relation)) shown_->home = results.home(relation);
  if (shown_->home) shown_->shown = shown_->home->shown();
  are_made_ = shown_->home && run.is_equivalence(relation);
  if (declared().attributes.empty() || are_made_) return;
  if (shown_->home) {
    for (const word* const words : results.columns_of(relation)) columns_.push_back({words, shown_});
  } else {
    copy_staged_rows();
  }
}

shown_rows::shown_rows(std::shared_ptr<engine_state> engine, std::uint32_t relation, staged_rows rows)
    : shown_(std::make_shared<shown_evaluation>()),
      relation_(relation),
      declared_(engine->run().source, &engine->run().relation(relation)),
      rows_(rows.rows) {
  shown_->engine = std::move(engine);
  shown_->rows = std::move(rows);
  shown_->rows.columns.resize(declared().attributes.size());
  for (const auto& column : shown_->rows.columns) columns_.push_back({column.data(), shown_});
}

std::vector<shared_words> shown_rows::columns(std::uint64_t first, std::uint64_t rows) const {
  if (!are_made_) return columns_;
  std::vector<shared_words> result;
  const std::vector<word*> made = add_columns(result, rows);
  shown_->home->executor().read_pairs(relation_id(relation_), first, rows, made.data());
  return result;
}

std::vector<word*> shown_rows::add_columns(std::vector<shared_words>& columns, std::uint64_t rows) const {
  std::vector<word*> pointers;
  for (std::size_t c = 0; c < declared().attributes.size(); ++c) {
    const auto copy = std::make_shared<std::vector<word>>(rows);
    pointers.push_back(copy->data());
    columns.push_back({copy->data(), copy});
  }
  return pointers;
}

void shown_rows::copy_staged_rows() {
  std::vector<word*> made = add_columns(columns_, rows_);
  for (const staged_rows& block : shown_->engine->facts().staged(relation_)) {
    for (std::size_t c = 0; c < made.size(); ++c) made[c] = std::copy_n(block.columns[c].data(), block.rows, made[c]);
  }
}

}  // namespace gpulog::detail
