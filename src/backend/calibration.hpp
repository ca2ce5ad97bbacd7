#pragma once

#include <cstdint>

/// When arrays of the host are mapped from the folder of `--spill` (`bench/spill`; figures of other choices are in
/// docs/adr/0078-spill-file.md).
namespace gpulog::backend::calibration {

/// Shares of the memory limit in use from which on columns, and all other arrays, are spilled. Columns come first:
/// columns are mostly read and written in order, sets and indexes at random. The rest of the limit is for small arrays.
inline constexpr double used_share_for_columns = 0.25;
inline constexpr double used_share_for_others = 0.75;
/// Smallest spilled array, in bytes: to map a smaller array takes longer than to fill it. No other value was tried.
inline constexpr std::uint64_t least_spilled_bytes = 1u << 16;

}  // namespace gpulog::backend::calibration
