#pragma once

#include <cstdint>
#include <utility>
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

/// Descriptions of runs for one kernel, in pinned memory, which the kernel reads.
template <class Run>
class staged_runs {
 public:
  staged_runs() : runs_(backend::gpu::allocate_pinned<Run>(capacity)) {}
  ~staged_runs() { backend::gpu::deallocate_pinned(runs_); }
  staged_runs(const staged_runs&) = delete;
  staged_runs& operator=(const staged_runs&) = delete;

  [[nodiscard]] bool is_full() const { return begin_ + count_ == capacity; }
  /// Reuses the memory; kernels that read it must have ended.
  void clear() { begin_ = count_ = 0; }
  void add(const Run& run) { runs_[begin_ + count_++] = run; }
  [[nodiscard]] bool is_empty() const { return count_ == 0; }
  /// Returns the runs added since the last call, and their number.
  [[nodiscard]] std::pair<const Run*, unsigned> take() {
    const std::uint64_t begin = std::exchange(begin_, begin_ + count_);
    return {runs_ + begin, static_cast<unsigned>(std::exchange(count_, 0))};
  }

 private:
  static constexpr std::uint64_t capacity = 1024;

  Run* runs_;
  std::uint64_t begin_ = 0;
  std::uint64_t count_ = 0;
};

/// Builds many runs with few kernels: runs are collected until flush(). Runs of few rows share a kernel.
class small_run_builder {
 public:
  explicit small_run_builder(const backend::gpu::device_context& context) : context_(&context) {}

  /// Adds a run; its inputs and outputs must stay in place until flush().
  void add(const small_run& made);
  /// @param scratch memory of the size that counted_scratch_words() returns
  void add(const counted_run& made, backend::array<std::uint32_t> scratch);
  /// Builds the collected runs. Must precede each kernel that reads the runs and each release of their memory.
  void flush();
  /// Identifies a collection: a run added to the current collection has not been built.
  [[nodiscard]] std::uint64_t collection() const { return collection_; }

 private:
  template <class Run>
  void make_room(staged_runs<Run>& staged);

  const backend::gpu::device_context* context_;
  staged_runs<small_run> sorted_;
  staged_runs<counted_run> counted_;
  std::vector<counted_run> large_;
  std::vector<backend::array<std::uint32_t>> scratch_;
  std::uint64_t collection_ = 0;
};

}  // namespace gpulog::storage::gpu
