#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "backend/memory_resource.hpp"
#include "sema/program.hpp"
#include "storage/records/record_table.hpp"
#include "storage/symbols/symbol_table.hpp"
#include "storage/symbols/wide_values.hpp"

namespace gpulog::detail {

/// The memory of a run, and the tables of the values that words refer to.
struct run_values {
  explicit run_values(const sema::program& program)
      : symbols(program.symbols, symbol_memory_),
        records(program.words == word_size::bits64 ? storage::wide_values::most_names : UINT32_MAX, record_memory_) {
    if (program.words == word_size::bits64) wide.emplace(wide_memory_);
  }

  /// Returns nullptr for 32-bit programs.
  [[nodiscard]] storage::wide_values* wide_or_none() const { return wide ? &*wide : nullptr; }
  /// Returns the words of a fact in the text of a program.
  [[nodiscard]] std::vector<word> row_of(const sema::fact& fact) const {
    std::vector<word> row;
    for (const wide_word value : fact.values) row.push_back(storage::word_of(value, wide_or_none()));
    return row;
  }

  backend::host_memory memory;

 private:
  backend::named_memory symbol_memory_{memory, "symbols"};
  backend::named_memory record_memory_{memory, "records"};
  backend::named_memory wide_memory_{memory, "values of 64 bits"};

 public:
  storage::symbol_table symbols;
  mutable storage::record_tables records;  ///< mutable: reading creates missing tables
  /// The values of a 64-bit program. Reading a record from a result may add codes.
  mutable std::optional<storage::wide_values> wide;
  std::atomic<wide_word> counter = 0;  ///< for autoinc()
};

}  // namespace gpulog::detail
