#include "gpulog/answer.hpp"

#include <utility>

#include "engine/declarations.hpp"
#include "engine/rows/shown_rows.hpp"

namespace gpulog {

answer::answer(detail::shown_rows&& rows)
    : rows_(std::make_shared<const detail::shown_rows>(std::move(rows))),
      attributes_(detail::attributes_of(rows_->declared(), rows_->shown()->engine->run().analysed())) {}

std::uint64_t answer::size() const { return rows_->rows(); }

host_column answer::column(std::size_t number) const { return detail::column_of(*rows_, number); }

void answer::to_arrow(ArrowArrayStream& made, const arrow_options& options) const {
  detail::export_rows(*rows_, options, made);
}

}  // namespace gpulog
