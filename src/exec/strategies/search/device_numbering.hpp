#pragma once

#include <cstdint>
#include <vector>

#include "backend/array.hpp"
#include "backend/gpu/device.hpp"
#include "backend/gpu/host_device.hpp"
#include "storage/factorized/adjacency.hpp"
#include "storage/representation/kept_rows.cuh"
#include "storage/sets/hash.hpp"

namespace gpulog::exec {

/// Columns in device memory, as a kernel argument.
struct tuple_columns {
  static constexpr std::size_t most = 16;
  const word* at[most] = {};
  std::uint32_t arity = 0;

  [[nodiscard]] GPULOG_HOST_DEVICE std::uint64_t hash(std::uint64_t row) const {
    storage::key_hash hash;
    for (std::uint32_t c = 0; c < arity; ++c) hash.add(at[c][row]);
    return storage::mix(hash.value());
  }
  [[nodiscard]] GPULOG_HOST_DEVICE bool is_equal(std::uint64_t row, const tuple_columns& others,
                                                 std::uint64_t other) const {
    for (std::uint32_t c = 0; c < arity; ++c) {
      if (at[c][row] != others.at[c][other]) return false;
    }
    return true;
  }
};

/// Rows to number.
struct tuple_rows {
  tuple_columns columns;
  std::uint64_t rows = 0;
};

/// kernels::tuple_numbering in device memory: distinct tuples of some columns get numbers from 0 on.
class device_numbering {
 public:
  static constexpr std::uint32_t none = storage::gpu::numbered_columns::none;

  /// Numbers tuples with equal arity, fewer than 2^32 - 2 in total.
  /// @throws backend::memory_exceeded
  device_numbering(const backend::gpu::device_context& context, backend::memory_resource& resource,
                   const std::vector<tuple_rows>& parts);

  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// Returns the view for lookups in kernels; its columns are those of the tuples.
  [[nodiscard]] const storage::gpu::numbered_columns& view() const { return view_; }
  /// Returns the tuples, by number.
  [[nodiscard]] tuple_rows tuples() const;
  [[nodiscard]] std::uint64_t bytes() const { return slots_.bytes() + values_.bytes(); }
  /// numbers[i] = first + the number of tuple i, or `none`.
  void find(const tuple_rows& searched, std::uint32_t first, std::uint32_t* numbers) const;

 private:
  const backend::gpu::device_context* context_;
  backend::array<std::uint32_t> slots_;
  backend::array<word> values_;  // [column][number]
  std::uint64_t size_ = 0;
  storage::gpu::numbered_columns view_;
};

/// Arrays of keys and values. Skips pairs without a key.
struct key_values {
  const std::uint32_t* keys = nullptr;
  const word* values = nullptr;
  std::uint64_t pairs = 0;
  std::uint32_t first = 0;  ///< added to each key
};

/// Returns the values by key; keys are below `numbers`. Unordered within a list.
[[nodiscard]] storage::adjacency sort_by_key(const backend::gpu::device_context& context,
                                             backend::memory_resource& resource, const std::vector<key_values>& parts,
                                             std::uint64_t numbers);

}  // namespace gpulog::exec
