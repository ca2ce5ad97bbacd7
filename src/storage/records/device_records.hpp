#pragma once

#include <cstdint>
#include <vector>

#include "backend/array.hpp"
#include "backend/gpu/device.hpp"
#include "storage/records/record_table.hpp"

namespace gpulog::storage::gpu {

/// A table of records, for kernels (record_slots.cuh).
struct record_view {
  std::uint64_t* slots = nullptr;
  std::uint64_t slot_count = 0;
  word* fields = nullptr;  ///< record n starts at fields[(n - 1) * arity]
  std::uint64_t* count = nullptr;
  /// At this number of records, threads stop creating new records: further ones may be in progress.
  std::uint64_t safe_records = 0;
  std::uint32_t arity = 0;
};

/// The records of one arity in device memory: the fields of a record are contiguous, as readers need all of them, and
/// an open-addressing set of numbers, at most half full. Kernels create records; room is made between launches.
class device_records {
 public:
  /// @param most maximum number of records
  device_records(const backend::gpu::device_context& context, backend::memory_resource& resource, std::uint32_t arity,
                 word most);

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::uint32_t arity() const { return arity_; }
  /// Returns the fields; valid until release_outgrown().
  [[nodiscard]] const word* fields() const { return fields_.data(); }

  /// Adds records of the host.
  /// @throws backend::memory_exceeded
  void append(const word* fields, std::uint64_t records);
  /// Copies the fields of records [first, first + records) to the host.
  void read(word first, std::uint64_t records, word* fields) const;

  /// Returns a view for a kernel that looks up records, with room for `records` more, plus one per thread. The kernel
  /// may create more or run out of room.
  /// @throws backend::memory_exceeded, std::length_error when all numbers of a word are taken
  [[nodiscard]] record_view make_room(std::uint64_t records, std::uint64_t threads);
  /// Sets the number of records after such a kernel has ended.
  void set_size(std::uint64_t records) { size_ = entered_ = records; }
  /// Frees replaced buffers, which running kernels may have read.
  void release_outgrown() { outgrown_.clear(); }

 private:
  void reserve_fields(std::uint64_t records);
  void reserve(std::uint64_t records);
  void enter(std::uint64_t first);

  const backend::gpu::device_context* context_;
  std::uint32_t arity_;
  std::uint64_t most_;
  backend::array<word> fields_;
  std::uint64_t capacity_ = 0;  ///< in records, of the fields
  backend::array<std::uint64_t> slots_;
  backend::array<std::uint64_t> count_;
  std::uint64_t size_ = 0;
  std::uint64_t entered_ = 0;  ///< number of records in the set
  std::vector<backend::array<word>> outgrown_;
};

}  // namespace gpulog::storage::gpu
