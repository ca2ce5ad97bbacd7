#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <vector>

#include "backend/array.hpp"
#include "kernels/join/fold.hpp"
#include "kernels/join/pipeline.hpp"

/// Results of aggregates, so that each group is folded once, however many tiles of bindings ask for it.
namespace gpulog::kernels {

/// Columns of bindings, and which of their rows are the keys: one row for each group.
struct fold_keys {
  const std::vector<const word*>* columns = nullptr;
  const std::uint16_t* rows = nullptr;
};

/// The results of one aggregate, by the values that its body reads. Any number of workers may ask and tell. Stops
/// remembering where that does not pay: where groups are small, or are not asked for again; and where there is no
/// memory for it.
class fold_results {
 public:
  fold_results(std::size_t width, backend::memory_resource& memory)
      : width_(width), slots_(memory), keys_(memory), codes_(memory), results_(memory) {}

  /// Whether results are worth being told and asked for.
  [[nodiscard]] bool is_on() const { return is_on_.load(std::memory_order_relaxed); }
  /// Looks for the n groups whose numbers are given: writes the results of those that are known, and keeps the numbers
  /// of the others, in order. @return how many are left
  std::uint32_t find(const fold_keys& keys, std::uint16_t* groups, std::uint32_t n, fold_result* results);
  /// Remembers the results of the n groups whose numbers are given, at a cost of so many bindings in all.
  void add(const fold_keys& keys, const std::uint16_t* groups, std::uint32_t n, const fold_result* results,
           std::uint64_t bindings);

 private:
  // Bytes are few against any relation: 16 bytes and the key a result.
  static constexpr std::uint32_t most_results = 1U << 20;
  static constexpr std::uint32_t first_slots = 64;

  [[nodiscard]] std::uint64_t code_of(const fold_keys& keys, std::uint32_t group) const;
  [[nodiscard]] bool is_key(std::uint32_t entry, const fold_keys& keys, std::uint32_t group) const;
  /// The slot that has the key, or the empty one where it would be.
  [[nodiscard]] std::uint32_t slot_of(const fold_keys& keys, std::uint32_t group) const;
  /// For one more result. @throws backend::memory_exceeded
  void make_room();
  void judge();
  void stop();

  std::size_t width_;
  std::shared_mutex mutex_;
  backend::array<std::uint32_t> slots_;  // number of an entry + 1; 0: empty
  backend::array<word> keys_;            // width_ a result
  backend::array<std::uint32_t> codes_;
  backend::array<fold_result> results_;
  std::uint64_t bindings_ = 0;
  std::atomic<std::uint64_t> asked_ = 0;
  std::atomic<std::uint64_t> found_ = 0;
  std::atomic<bool> is_on_ = true;
};

/// The results of all aggregates of a pipeline, by segment; valid as long as the relations that they read are the same.
class fold_memory {
 public:
  /// @param memory outlives it
  fold_memory(const pipeline& program, backend::memory_resource& memory);
  /// Of the aggregate that begins with this segment; nullptr: each of its evaluations counts.
  [[nodiscard]] fold_results* of(std::size_t segment) { return results_[segment].get(); }

 private:
  std::vector<std::unique_ptr<fold_results>> results_;  // by segment; nullptr: no aggregate begins here
};

/// nullptr: the pipeline has no aggregates.
[[nodiscard]] std::shared_ptr<fold_memory> memory_of_folds(const pipeline& program, backend::memory_resource& memory);

}  // namespace gpulog::kernels
