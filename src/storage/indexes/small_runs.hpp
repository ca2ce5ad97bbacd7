#pragma once

#include <cstdint>
#include <vector>

#include "backend/array.hpp"
#include "backend/gpu/device.hpp"
#include "storage/indexes/counted_runs.hpp"
#include "storage/relation/views.hpp"

namespace gpulog::storage::gpu {

/// Parameters for building a run of few rows in a single block: sorts the rows, finds the keys of each level, fills its
/// table and copies the stored columns.
struct small_run {
  static constexpr std::uint32_t most_rows = 2048;
  static constexpr std::uint32_t most_columns = 8;
  static constexpr std::uint32_t most_levels = 4;

  struct level {
    std::uint32_t length;
    key_slot* table;
    std::uint64_t table_size;
    std::uint32_t* first;  ///< room for rows + 1
    word* keys;            ///< [length][rows]
    std::uint64_t* count;  ///< number of keys; null: not wanted
  };

  std::uint32_t rows;
  std::uint32_t sorted_columns;
  std::uint32_t stored_columns;
  std::uint32_t level_count;
  const word* order[most_columns];  ///< columns to sort by, starting at the run's first row
  const word* copied[most_columns];
  word* stored;  ///< [stored column][rows]
  level levels[most_levels];
};

/// Builds many runs with a single kernel: runs are collected until flush(). Sorted runs have few rows.
class small_run_builder {
 public:
  explicit small_run_builder(const backend::gpu::device_context& context);
  ~small_run_builder();
  small_run_builder(const small_run_builder&) = delete;
  small_run_builder& operator=(const small_run_builder&) = delete;

  /// Adds a run; its inputs and outputs must stay in place until flush().
  void add(const small_run& made);
  /// @param scratch memory of the size that counted_scratch_words() returns
  void add(const counted_run& made, backend::array<std::uint32_t> scratch);
  /// Builds the collected runs. Must precede each kernel that reads the runs and each release of their memory.
  void flush();
  /// Identifies a collection: a run added to the current collection has not been built.
  [[nodiscard]] std::uint64_t collection() const { return collection_; }

 private:
  static constexpr std::uint64_t capacity = 1024;

  const backend::gpu::device_context* context_;
  small_run* staged_ = nullptr;  // pinned
  std::uint64_t begin_ = 0;      // start of the current collection
  std::uint64_t count_ = 0;
  std::uint64_t collection_ = 0;
  std::vector<counted_run> counted_;
  std::vector<backend::array<std::uint32_t>> scratch_;
};

}  // namespace gpulog::storage::gpu
