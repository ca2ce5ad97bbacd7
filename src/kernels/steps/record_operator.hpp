#pragma once

#include <cstdint>

#include "backend/gpu/device.hpp"
#include "storage/records/device_records.hpp"

/// Making and finding records for a table of bindings in device memory.
namespace gpulog::kernels::gpu {

/// A record for each row.
struct record_step {
  bool makes = false;                    ///< a record that is not there; else its row is dropped
  const word* const* columns = nullptr;  ///< by field; null: a constant
  const word* constants = nullptr;       ///< by field
  word* result = nullptr;                ///< by row; a later step may read it
};

struct record_counters {
  std::uint64_t rows = 0;
  std::uint64_t refused = 0;
};

struct record_arguments {
  storage::gpu::record_view table;
  const record_step* steps = nullptr;
  std::uint32_t step_count = 0;
  std::uint32_t kept_count = 0;
  std::uint64_t rows = 0;
  bool drops_rows = false;  ///< a step that makes no records does
  /// Where rows are dropped: columns (results too) of which those that are left are written to `out`, in any order.
  const word* const* kept = nullptr;
  word* const* out = nullptr;
  record_counters* counters = nullptr;  ///< 0, as the kernel leaves them
  std::uint32_t* finished_blocks = nullptr;
  /// Rows: that are left; candidates: records in the table then; refused: there was too little room. Then run it again:
  /// records that it has made are found.
  backend::gpu::kernel_report* report = nullptr;
  std::uint64_t report_number = 0;
};

/// Threads that look up records for so many rows: all of them may be making one at a time.
[[nodiscard]] std::uint64_t record_threads(const backend::gpu::device_context& context, std::uint64_t rows);

/// Runs the steps on each row. @param threads as record_threads() says
void look_up_records(const backend::gpu::device_context& context, const record_arguments& arguments,
                     std::uint64_t threads);

}  // namespace gpulog::kernels::gpu
