#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <vector>

#include "backend/array.hpp"
#include "kernels/join/fold.hpp"
#include "kernels/join/pipeline.hpp"

/// Remembers results of aggregates, so that each group is folded once across all tiles.
namespace gpulog::kernels {

/// Columns of bindings, and the rows that hold the keys: one row per group.
struct fold_keys {
  const std::vector<const word*>* columns = nullptr;
  const std::uint16_t* rows = nullptr;
};

/// The results of one aggregate, by the values that its body reads. Thread-safe. Stops remembering if that does not pay
/// (small groups, few hits) or if memory is short.
class fold_results {
 public:
  fold_results(std::size_t width, backend::memory_resource& memory)
      : width_(width), slots_(memory), keys_(memory), codes_(memory), results_(memory) {}

  /// Returns whether to look up and store results.
  [[nodiscard]] bool is_on() const { return is_on_.load(std::memory_order_relaxed); }
  /// Looks up n groups: writes the results that exist, and keeps the numbers of the missing groups, in order.
  /// @return the number of missing groups
  std::uint32_t find(const fold_keys& keys, std::uint16_t* groups, std::uint32_t n, fold_result* results);
  /// Stores the results of n groups.
  /// @param bindings total number of bindings folded for these results
  void add(const fold_keys& keys, const std::uint16_t* groups, std::uint32_t n, const fold_result* results,
           std::uint64_t bindings);

 private:
  // Small compared with any relation: 16 bytes plus the key per result.
  static constexpr std::uint32_t most_results = 1U << 20;
  static constexpr std::uint32_t first_slots = 64;

  [[nodiscard]] std::uint64_t code_of(const fold_keys& keys, std::uint32_t group) const;
  [[nodiscard]] bool is_key(std::uint32_t entry, const fold_keys& keys, std::uint32_t group) const;
  /// Returns the slot with the key, or the empty slot for the key.
  [[nodiscard]] std::uint32_t slot_of(const fold_keys& keys, std::uint32_t group) const;
  /// Makes space for one more result.
  /// @throws backend::memory_exceeded
  void make_room();
  void judge();
  void stop();

  std::size_t width_;
  std::shared_mutex mutex_;
  backend::array<std::uint32_t> slots_;  // entry number + 1; 0: empty
  backend::array<word> keys_;            // width_ words per result
  backend::array<std::uint32_t> codes_;
  backend::array<fold_result> results_;
  std::uint64_t bindings_ = 0;
  std::atomic<std::uint64_t> asked_ = 0;
  std::atomic<std::uint64_t> found_ = 0;
  std::atomic<bool> is_on_ = true;
};

/// The results of all aggregates of a pipeline, by segment. Valid while the relations that the aggregates read are
/// unchanged.
class fold_memory {
 public:
  /// @param memory must outlive this object
  fold_memory(const pipeline& program, backend::memory_resource& memory);
  /// Returns the results of the aggregate that starts at `segment`, or nullptr if no evaluation may be skipped.
  [[nodiscard]] fold_results* of(std::size_t segment) { return results_[segment].get(); }

 private:
  std::vector<std::unique_ptr<fold_results>> results_;  // by segment; nullptr if no aggregate starts there
};

/// Returns nullptr if the pipeline has no aggregates.
[[nodiscard]] std::shared_ptr<fold_memory> memory_of_folds(const pipeline& program, backend::memory_resource& memory);

}  // namespace gpulog::kernels
