#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "storage/factorized/factorized_reader.hpp"
#include "storage/factorized/factorized_values.hpp"
#include "storage/representation/representation.hpp"
#include "support/error.hpp"

namespace gpulog::storage {

/// Rows of a relation that is complete, kept as pairs of a graph (storage/factorized). The store counts them, and a
/// lookup finds them by values. Who needs columns, an order or an index, or inserts, makes columns of them first.
class factorized_rows : public row_representation {
 public:
  static constexpr representation_abilities abilities{.has_columns = false};
  factorized_rows(column_store& rows, factorized_values values)
      : row_representation(rows),
        values_(std::make_unique<const factorized_values>(std::move(values))),
        lookup_(std::make_unique<factorized_lookup>(*rows.resource, *values_)) {}

  [[nodiscard]] static const char* name() { return "factorized"; }
  [[nodiscard]] std::uint64_t bytes() const { return values_->bytes() + lookup_->bytes(); }

  [[nodiscard]] const factorized_values& values() const { return *values_; }
  [[nodiscard]] factorized_lookup& lookup() const { return *lookup_; }

  /// All rows, strips shared among workers. @throws memory_exceeded
  template <class Backend>
  [[nodiscard]] std::vector<array<word>> columns(Backend& backend) const {
    std::vector<array<word>> made;
    for (std::uint32_t c = 0; c < rows_->arity(); ++c)
      made.emplace_back(*rows_->resource, values_->rows(), backend::fresh_memory::anything);
    std::vector<std::unique_ptr<strip_reader>> readers(backend.workers());
    backend.for_each_tile(values_->graph->strips(), 1, [&](unsigned worker, std::uint64_t strip, std::uint64_t) {
      auto& reader = readers[worker];
      if (reader == nullptr) reader = std::make_unique<strip_reader>(*rows_->resource, *values_->graph);
      std::vector<word*> begins;
      for (auto& column : made) begins.push_back(column.data() + values_->rows_in_front[strip]);
      reader->make(static_cast<std::uint32_t>(strip));
      reader->prepare(*values_);
      reader->write(*values_, 0, values_->rows_in_front[strip + 1] - values_->rows_in_front[strip], begins.data());
    });
    return made;
  }

  template <class>
  [[noreturn]] std::uint32_t insert(const word* const*, std::uint32_t, insert_scratch&, unsigned) {
    throw internal_error("factorized rows are inserted into");
  }
  /// Who asks often has a reader of its own, which remembers what it found.
  void contains(const word* const* values, std::uint32_t n, insert_scratch&, std::uint8_t* found) const {
    factorized_reader(*lookup_).contains(values, n, found);
  }

 private:
  std::unique_ptr<const factorized_values> values_;
  std::unique_ptr<factorized_lookup> lookup_;
};
static_assert(representation<factorized_rows>);

}  // namespace gpulog::storage
