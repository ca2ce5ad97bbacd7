#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "storage/factorized/factorized_form.hpp"
#include "storage/representation/representation.hpp"
#include "support/error.hpp"

namespace gpulog::storage {

/// Rows of a relation that is complete, kept in a smaller form than columns (storage/factorized). The form counts them,
/// and finds them by values. Who needs columns, an order or an index, or inserts, makes columns of them first.
class factorized_rows : public row_representation {
 public:
  static constexpr representation_abilities abilities{.has_columns = false};
  factorized_rows(column_store& rows, std::unique_ptr<factorized_form> form)
      : row_representation(rows), form_(std::move(form)) {}

  [[nodiscard]] static const char* name() { return "factorized"; }
  [[nodiscard]] std::uint64_t bytes() const { return form_->bytes(); }

  [[nodiscard]] factorized_form& form() const { return *form_; }

  /// All rows, pieces shared among workers. @throws memory_exceeded
  template <class Backend>
  [[nodiscard]] std::vector<array<word>> columns(Backend& backend) const {
    std::vector<array<word>> made;
    for (std::uint32_t c = 0; c < rows_->arity(); ++c)
      made.emplace_back(*rows_->resource, form_->rows(), backend::fresh_memory::anything);
    const std::uint64_t* const in_front = form_->rows_in_front();
    std::vector<std::unique_ptr<factorized_piece>> pieces(backend.workers());
    backend.for_each_tile(form_->pieces(), 1, [&](unsigned worker, std::uint64_t number, std::uint64_t) {
      auto& piece = pieces[worker];
      if (piece == nullptr) piece = form_->make_piece();
      std::vector<word*> begins;
      for (auto& column : made) begins.push_back(column.data() + in_front[number]);
      piece->make(static_cast<std::uint32_t>(number));
      piece->cursor()->write(0, in_front[number + 1] - in_front[number], begins.data());
    });
    return made;
  }

  template <class>
  [[noreturn]] std::uint32_t insert(const word* const*, std::uint32_t, insert_scratch&, unsigned) {
    throw internal_error("factorized rows are inserted into");
  }
  /// Who asks often has a reader of its own, which remembers what it found.
  void contains(const word* const* values, std::uint32_t n, insert_scratch&, std::uint8_t* found) const {
    form_->make_reader()->contains(values, n, found);
  }

 private:
  std::unique_ptr<factorized_form> form_;
};
static_assert(representation<factorized_rows>);

}  // namespace gpulog::storage
