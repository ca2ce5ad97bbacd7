#include "exec/cpu/factorized_stream.hpp"

#include <utility>

namespace gpulog::exec {

namespace {

class made_piece final : public piecewise_stream::piece {
 public:
  explicit made_piece(std::unique_ptr<storage::factorized_piece> rows) : rows_(std::move(rows)) {}
  void write(std::uint64_t first, std::uint64_t n, word* const* columns) const override {
    rows_->cursor()->write(first, n, columns);
  }

 private:
  std::unique_ptr<storage::factorized_piece> rows_;
};

}  // namespace

factorized_stream::factorized_stream(const storage::factorized_form& form)
    : piecewise_stream(form.rows_in_front(), form.pieces(), form.source_columns().size() + form.value_columns().size()),
      form_(&form) {}

std::shared_ptr<const piecewise_stream::piece> factorized_stream::make(std::size_t number) {
  std::unique_ptr<storage::factorized_piece> rows = form_->make_piece();
  rows->make(static_cast<std::uint32_t>(number));
  return std::make_shared<made_piece>(std::move(rows));
}

}  // namespace gpulog::exec
