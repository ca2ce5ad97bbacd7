#pragma once

#include <cstdint>

#include "backend/gpu/device.hpp"
#include "storage/records/device_records.hpp"
#include "storage/symbols/device_values.hpp"
#include "support/operations.hpp"

/// Steps that look up a device table for all bindings of a table in device memory: records by fields, and 64-bit
/// values, whose table is a table of records of two halves (docs/adr/0025, docs/adr/0034).
namespace gpulog::kernels::gpu {

enum class lookup_kind : std::uint8_t {
  make_record,
  find_record,  ///< drops the row if no record exists
  make_code,    ///< for the left value
  find_code,    ///< like make_code; storage::no_code if no code exists
  compute,      ///< on 64-bit values; the result has two halves
  compare       ///< drops the row if the comparison fails
};

/// A step for each row.
struct lookup_step {
  lookup_kind kind = lookup_kind::make_record;
  scalar_op scalar{};
  comparison_op comparison{};
  const word* const* columns = nullptr;  ///< for a record: by field; null: a constant
  const word* constants = nullptr;       ///< for a record: by field
  storage::gpu::value_column left;       ///< for a value: the arguments
  storage::gpu::value_column right;
  word* result = nullptr;  ///< by row; later steps may read it
  word* upper_result = nullptr;
};

struct lookup_counters {
  std::uint64_t rows = 0;
  std::uint64_t refused = 0;
  std::uint64_t faults = 0;
};

struct lookup_arguments {
  storage::gpu::record_view table;
  const lookup_step* steps = nullptr;
  std::uint32_t step_count = 0;
  std::uint32_t kept_count = 0;
  std::uint64_t rows = 0;
  bool drops_rows = false;  ///< whether a step drops rows
  /// If rows are dropped: the columns (including results) whose remaining rows are written to `out`, in any order.
  const word* const* kept = nullptr;
  word* const* out = nullptr;
  lookup_counters* counters = nullptr;  ///< zero before and after the kernel
  std::uint32_t* finished_blocks = nullptr;
  /// rows: remaining rows; candidates: records in the table afterwards; refused: space was short, and the caller must
  /// run the kernel again, which finds the records created so far; fault: a division failed.
  backend::gpu::kernel_report* report = nullptr;
  std::uint64_t report_number = 0;
};

/// Returns the number of threads for `rows` rows. Each thread may be creating a record.
[[nodiscard]] std::uint64_t lookup_threads(const backend::gpu::device_context& context, std::uint64_t rows);

/// Runs the steps on each row.
/// @param threads from lookup_threads()
void run_lookups(const backend::gpu::device_context& context, const lookup_arguments& arguments, std::uint64_t threads);

}  // namespace gpulog::kernels::gpu
