#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/files/byte_buffer.hpp"
#include "io/relation_writer.hpp"
#include "storage/symbols/symbol_table.hpp"
#include "support/long_vector.hpp"

namespace gpulog::io {

/// Some rows of a relation, in columns or copied.
class row_window {
 public:
  row_window(const relation_rows& rows, std::uint64_t first, std::uint64_t last) : columns_(rows.columns) {
    if (!rows.read || first == last) return;
    first_ = first;
    made_.resize(memory_size(columns_.size() * (last - first)));
    std::vector<word*> columns;
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      columns.push_back(made_.data() + column * (last - first));
      columns_[column] = columns.back();
    }
    rows.read(first, last - first, columns.data());
  }
  [[nodiscard]] word at(std::size_t column, std::uint64_t row) const { return columns_[column][row - first_]; }

 private:
  std::vector<const word*> columns_;
  std::vector<word> made_;
  std::uint64_t first_ = 0;
};

/// Formats rows as text.
class row_formatter {
 public:
  row_formatter() = default;
  row_formatter(const row_formatter&) = delete;
  row_formatter& operator=(const row_formatter&) = delete;
  virtual ~row_formatter() = default;
  /// The text before all rows, and the text after all rows.
  [[nodiscard]] virtual std::string beginning() const = 0;
  [[nodiscard]] virtual std::string end() const = 0;
  virtual void append_rows(byte_buffer& text, std::uint64_t first, std::uint64_t last) const = 0;
};

/// Checks that the table of records exists if a column has records.
void check_kinds(const relation_rows& rows);

}  // namespace gpulog::io
