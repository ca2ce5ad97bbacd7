#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "backend/array.hpp"
#include "backend/gpu/device.hpp"
#include "backend/gpu/phase_clock.hpp"
#include "storage/indexes/sorted_index.hpp"

namespace gpulog::storage::gpu {

/// Returns an array with room for `capacity` elements, or for `size` if memory is short.
/// @throws memory_exceeded
template <class T>
[[nodiscard]] array<T> roomy_array(memory_resource& resource, std::uint64_t size, std::uint64_t capacity) {
  if (capacity > size) {
    try {
      return array<T>(resource, capacity, backend::fresh_memory::anything);
    } catch (const backend::memory_exceeded&) {  // NOLINT: the smaller one may fit
    }
  }
  return array<T>(resource, size, backend::fresh_memory::anything);
}

/// Makes room for `size` elements; the contents are lost if the buffer grows.
/// @param capacity preferred new capacity, if larger and available
template <class T>
void make_room(array<T>& buffer, std::uint64_t size, std::uint64_t capacity = 0) {
  if (buffer.capacity() < size) {
    memory_resource& resource = buffer.resource();
    buffer.release();
    buffer = roomy_array<T>(resource, size, capacity);
  }
  buffer.resize(size);
}

/// Scratch memory and bulk operations (sort, select, scan) for hash-indexed sorted arrays on a device. All work is
/// ordered on the device's stream.
class hisa_workspace {
 public:
  hisa_workspace(const backend::gpu::device_context& device, memory_resource& memory,
                 backend::gpu::phase_clock& phases);
  ~hisa_workspace();
  hisa_workspace(const hisa_workspace&) = delete;
  hisa_workspace& operator=(const hisa_workspace&) = delete;

  [[nodiscard]] backend::gpu::stream_handle stream() const { return context.stream(); }

  /// Returns a scratch buffer with room for `size` elements; grows with 25 percent headroom.
  template <class T>
  T* scratch(array<T>& buffer, std::uint64_t size) {
    if (buffer.capacity() < size) {
      const backend::gpu::phase_scope scope(clock, backend::gpu::phase::allocation);
      make_room(buffer, size, size + size / 4);
    }
    buffer.resize(size);
    return buffer.data();
  }

  /// Sorts n keys by bits [begin_bit, end_bit), stable.
  /// @return `from` or `other`, whichever holds the result
  std::uint64_t* sort_keys(std::uint64_t* from, std::uint64_t* other, std::uint64_t n, unsigned begin_bit,
                           unsigned end_bit);
  /// Sorts rows [0, n) of the columns lexicographically: Algorithm 1, a stable sort from the last column to the first,
  /// with as many columns at a time as fit into 64 bits.
  /// @param used_bits by column: all bits set in any value
  /// @return n row numbers, valid until the next use of the workspace
  const std::uint32_t* sort_rows(const std::vector<const word*>& columns, const std::vector<word>& used_bits,
                                 std::uint64_t n);
  /// Selects the numbers below n whose flag is set, in ascending order; writes their count to *count.
  void select(const std::uint8_t* chosen, std::uint64_t n, std::uint32_t* out, std::uint64_t* count);
  /// Replaces each value by the sum of all earlier values.
  void exclusive_sum(std::uint64_t* values, std::uint64_t n);
  /// Returns, for each tile of the merged sequence, how many of the n fresh elements precede the tile
  /// (hisa_device.cuh).
  const std::uint32_t* split(const std::uint32_t* sorted_ranks, std::uint64_t n, std::uint64_t merged);

  /// Returns `most_counters` counters in device memory for temporary use.
  [[nodiscard]] std::uint64_t* counters() { return counters_.data(); }
  void clear_counters(std::uint64_t n);
  /// Waits for the device and returns values from device memory; valid until the next call.
  const std::uint64_t* read(const std::uint64_t* values, std::uint64_t n);

  const backend::gpu::device_context& context;
  memory_resource& resource;
  backend::gpu::phase_clock& clock;
  array<std::uint64_t> keys;
  array<std::uint64_t> other_keys;
  array<std::uint32_t> rows;
  array<std::uint32_t> other_rows;
  array<std::uint32_t> ranks;
  array<std::uint32_t> fresh_ranks;
  array<std::uint32_t> group_ranks;
  array<std::uint32_t> selected;
  array<std::uint32_t> splits;
  array<std::uint8_t> flags;

  static constexpr std::uint64_t most_counters = 256;

 private:
  array<std::uint8_t> temporary_;
  array<std::uint64_t> counters_;
  std::uint64_t* host_values_ = nullptr;  // pinned
};

}  // namespace gpulog::storage::gpu
