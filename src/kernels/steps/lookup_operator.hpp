#pragma once

#include <cstdint>

#include "backend/gpu/device.hpp"
#include "storage/records/device_records.hpp"
#include "storage/symbols/device_values.hpp"
#include "support/operations.hpp"

/// Steps that look something up in a table of the device, for all bindings of a table in device memory: records by
/// their fields, and values of 64 bits, whose table is one of records of two halves (docs/adr/0025, docs/adr/0034).
namespace gpulog::kernels::gpu {

enum class lookup_kind : std::uint8_t {
  make_record,
  find_record,  ///< drops the row where there is none
  make_code,    ///< of the left value
  find_code,    ///< the same; storage::no_code where there is none
  compute,      ///< with values of 64 bits; the result is two halves
  compare       ///< drops the row where the comparison does not hold
};

/// What is done for each row.
struct lookup_step {
  lookup_kind kind = lookup_kind::make_record;
  scalar_op scalar{};
  comparison_op comparison{};
  const word* const* columns = nullptr;  ///< of a record: by field; null: a constant
  const word* constants = nullptr;       ///< of a record: by field
  storage::gpu::value_column left;       ///< of a value: the arguments
  storage::gpu::value_column right;
  word* result = nullptr;  ///< by row; a later step may read it
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
  bool drops_rows = false;  ///< a step does
  /// Where rows are dropped: columns (results too) of which those that are left are written to `out`, in any order.
  const word* const* kept = nullptr;
  word* const* out = nullptr;
  lookup_counters* counters = nullptr;  ///< 0, as the kernel leaves them
  std::uint32_t* finished_blocks = nullptr;
  /// Rows: that are left; candidates: records in the table then; refused: there was too little room. Then run it again:
  /// records that it has made are found. Fault: a division failed.
  backend::gpu::kernel_report* report = nullptr;
  std::uint64_t report_number = 0;
};

/// Threads that take so many rows: all of them may be making a record at a time.
[[nodiscard]] std::uint64_t lookup_threads(const backend::gpu::device_context& context, std::uint64_t rows);

/// Runs the steps on each row. @param threads as lookup_threads() says
void run_lookups(const backend::gpu::device_context& context, const lookup_arguments& arguments, std::uint64_t threads);

}  // namespace gpulog::kernels::gpu
