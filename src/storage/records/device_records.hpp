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
  word* fields = nullptr;  ///< of record n at fields[(n - 1) * arity]
  std::uint64_t* count = nullptr;
  /// With so many records, no thread begins to make one: others may be at it.
  std::uint64_t safe_records = 0;
  std::uint32_t arity = 0;
};

/// The records of one arity in device memory: fields side by side, as whoever has a number reads them all, and an
/// open-addressing set of numbers, at most half full. Kernels make records; room for them is made between launches.
class device_records {
 public:
  /// @param most how many records there may be
  device_records(const backend::gpu::device_context& context, backend::memory_resource& resource, std::uint32_t arity,
                 word most);

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::uint32_t arity() const { return arity_; }
  /// Valid until release_outgrown().
  [[nodiscard]] const word* fields() const { return fields_.data(); }

  /// Adds records of the host. @throws backend::memory_exceeded
  void append(const word* fields, std::uint64_t records);
  /// Copies the fields of records [first, first + records) to the host.
  void read(word first, std::uint64_t records, word* fields) const;

  /// For a kernel that looks records up: with room for so many more, beside one for each of its threads. It may make
  /// more than that, or find no room.
  /// @throws backend::memory_exceeded, std::length_error when all numbers of a word are taken
  [[nodiscard]] record_view make_room(std::uint64_t records, std::uint64_t threads);
  /// How many there are when such a kernel has ended.
  void set_size(std::uint64_t records) { size_ = entered_ = records; }
  /// Frees what kernels under way may have read while the table grew.
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
  std::uint64_t entered_ = 0;  ///< records that are in the set
  std::vector<backend::array<word>> outgrown_;
};

}  // namespace gpulog::storage::gpu
