#pragma once

#include <concepts>
#include <cstdint>

#include "storage/relation/views.hpp"

namespace gpulog::storage::gpu {

/// Keeps the rows of a relation in device memory distinct, like storage::representation on the host. Kernels access the
/// representation as part of a set_view. `rows` are views of the columns, of which n rows exist.
template <class Kind>
concept device_representation = requires(Kind& kind, const Kind& known, const set_view& rows, set_view& view,
                                         std::uint64_t n, std::uint64_t limit, bool keep) {
  { known.name() } -> std::convertible_to<const char*>;
  { known.bytes() } -> std::same_as<std::uint64_t>;
  { known.bytes_per_row() } -> std::same_as<std::uint64_t>;
  /// Returns the fraction of its rows for which room is requested at least.
  { known.growth_share() } -> std::same_as<std::uint64_t>;
  known.show(view);
  /// Makes room for `limit` rows in total, or for n more than exist. With `keep`, kernels may continue to read the old
  /// state until release_outgrown().
  /// @return the number of rows that fit
  /// @throws memory_exceeded
  { kind.extend(rows, n, limit, n, keep) } -> std::same_as<std::uint64_t>;
  /// Ends a phase that appended the rows from the first number to the second one.
  kind.settle(rows, n, n);
  kind.release_outgrown();
  kind.release();
};

}  // namespace gpulog::storage::gpu
