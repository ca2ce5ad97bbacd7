#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "storage/calibration.hpp"
#include "storage/indexes/open_run.hpp"
#include "storage/indexes/run_policy.hpp"
#include "storage/indexes/sorted_run.hpp"

namespace gpulog::storage {

/// An index over an append-only relation. `hash` mode: runs with geometrically decreasing sizes, so that a row is
/// merged O(log n) times and no iteration rewrites full. `hisa` mode: one run for full, merged with delta in each
/// iteration, as published, unless delta has few rows. In both modes the rows of delta form a separate run until the
/// next advance, so that old, delta and all rows can be read separately.
class sorted_index {
 public:
  sorted_index(memory_resource& resource, index_layout layout, buffer_policy buffers)
      : resource_(&resource), layout_(std::move(layout)), buffers_(buffers) {}

  [[nodiscard]] const index_layout& layout() const { return layout_; }
  [[nodiscard]] std::uint64_t bytes() const {
    std::uint64_t sum = (spare_ ? spare_->bytes() : 0) + few_old_.bytes() + few_delta_.bytes();
    for (const auto& run : old_) sum += run->bytes();
    for (const auto& run : delta_) sum += run->bytes();
    return sum;
  }

  /// Calls visit(run) for each run with rows of the selected parts.
  template <class Visit>
  void for_each_run(bool with_old, bool with_delta, Visit&& visit) const {
    if (with_old) {
      for (const auto& run : old_) visit(*run);
      if (!few_old_.is_empty()) visit(few_old_.run());
    }
    if (with_delta) {
      for (const auto& run : delta_) visit(*run);
      if (!few_delta_.is_empty()) visit(few_delta_.run());
    }
  }

  /// Returns the number of rows that the index does not cover.
  [[nodiscard]] std::uint64_t missing_rows(std::uint64_t rows) const { return rows - std::min(indexed_, rows); }

  /// Returns whether refresh() would have no effect.
  [[nodiscard]] bool covers(std::uint64_t old_rows, std::uint64_t rows) const {
    return indexed_ == rows && delta_begin_ == old_rows;
  }

  /// Covers rows [0, rows), with the rows from old_rows on as delta. New rows are always the last rows.
  /// @throws memory_exceeded; the index then covers no rows
  template <class Backend>
  void refresh(Backend& backend, const column_pointers& columns, std::uint64_t old_rows, std::uint64_t rows) {
    if (covers(old_rows, rows)) return;
    try {
      if (old_rows >= indexed_) {
        make_delta_old(backend, columns);
      } else if (old_rows == 0 && !layout_.positions) {
        make_all_delta(backend, columns);
      } else {
        forget_rows();  // Some old rows are delta again, and runs are never split.
      }
      index_old(backend, columns, old_rows);
      index_delta(backend, columns, rows);
    } catch (const backend::memory_exceeded&) {
      forget_rows();
      throw;
    }
    delta_begin_ = old_rows;
  }
  /// Memory for the columns that refresh() receives.
  [[nodiscard]] column_pointers& pointers() { return pointers_; }

 private:
  using run_pointer = std::unique_ptr<sorted_run>;
  /// Positions within a run have 32 bits.
  static constexpr std::uint64_t max_run_rows = 1ULL << 31;

  void forget_rows() {
    old_.clear();
    delta_.clear();
    few_old_.clear();
    few_delta_.clear();
    indexed_ = 0;
  }

  /// Half of an open run: rows that fill an open run at once would be copied twice.
  [[nodiscard]] bool are_few(std::uint64_t rows) const { return rows <= open_run::most_rows / 2 && !layout_.positions; }

  template <class Backend>
  void make_delta_old(Backend& backend, const column_pointers& columns) {
    for (auto& run : delta_) fold(backend, std::move(run));
    delta_.clear();
    if (few_delta_.is_empty()) return;
    add_few_old(backend, columns, few_delta_.begin(), few_delta_.end());
    few_delta_.clear();
  }

  template <class Backend>
  void make_all_delta(Backend& backend, const column_pointers& columns) {
    close_few_old(backend, columns);
    old_.insert(old_.end(), std::make_move_iterator(delta_.begin()), std::make_move_iterator(delta_.end()));
    delta_ = std::exchange(old_, {});
  }

  /// Rows up to old_rows that the index does not cover.
  template <class Backend>
  void index_old(Backend& backend, const column_pointers& columns, std::uint64_t old_rows) {
    if (indexed_ < old_rows && are_few(old_rows - indexed_)) {
      add_few_old(backend, columns, indexed_, old_rows);
      indexed_ = old_rows;
    }
    for (; indexed_ < old_rows; indexed_ = std::min(old_rows, indexed_ + max_run_rows)) {
      fold(backend, make_run(backend, columns, indexed_, std::min(old_rows, indexed_ + max_run_rows)));
    }
  }

  template <class Backend>
  void index_delta(Backend& backend, const column_pointers& columns, std::uint64_t rows) {
    if (indexed_ < rows && are_few(rows - indexed_) && few_delta_.is_empty()) {
      few_delta_.assign(*resource_, layout_, columns, indexed_, rows, rows - indexed_);
      indexed_ = rows;
    }
    for (; indexed_ < rows; indexed_ = std::min(rows, indexed_ + max_run_rows)) {
      delta_.push_back(make_run(backend, columns, indexed_, std::min(rows, indexed_ + max_run_rows)));
    }
  }

  /// Adds few rows [begin, end) to the open run, which waits until a sorted run pays.
  template <class Backend>
  void add_few_old(Backend& backend, const column_pointers& columns, std::uint64_t begin, std::uint64_t end) {
    const bool continues = !few_old_.is_empty() && few_old_.end() == begin;
    if (continues && end - few_old_.begin() <= open_run::most_rows) {
      if (few_old_.append(layout_, columns, end)) return;
      // Sorting some rows again costs less than a separate run.
      if (few_old_.rows() < calibration::least_closed_rows) begin = few_old_.begin();
    }
    if (begin != few_old_.begin()) close_few_old(backend, columns);
    few_old_.assign(*resource_, layout_, columns, begin, end, open_run::most_rows);
  }

  template <class Backend>
  void close_few_old(Backend& backend, const column_pointers& columns) {
    if (few_old_.is_empty()) return;
    fold(backend, make_run(backend, columns, few_old_.begin(), few_old_.end()));
    few_old_.clear();
  }

  template <class Backend>
  run_pointer make_run(Backend& backend, const column_pointers& columns, std::uint64_t begin, std::uint64_t end) {
    auto run = std::make_unique<sorted_run>(*resource_, layout_);
    run->build(backend, *resource_, layout_, columns, begin, end);
    return run;
  }

  template <class Backend>
  void fold(Backend& backend, run_pointer run) {
    old_.push_back(std::move(run));
    while (old_.size() >= 2) {
      sorted_run& elder = *old_[old_.size() - 2];
      sorted_run& younger = *old_.back();
      const bool published = layout_.positions;
      if (elder.rows() + younger.rows() > max_run_rows) break;
      if (published ? stays_apart(elder.rows(), younger.rows())
                    : elder.rows() >= calibration::merge_factor * younger.rows())
        break;
      const bool is_full = published && old_.size() == 2;  // full reuses the kept buffers
      run_pointer merged = is_full && spare_ ? std::move(spare_) : std::make_unique<sorted_run>(*resource_, layout_);
      if (!published) {  // the buffers of old runs are reused
        elder.drop_tables();
        younger.drop_tables();
      }
      merged->merge(backend, elder, younger, is_full ? buffers_ : buffer_policy{false, 0}, !published);
      if (is_full && buffers_.eager) spare_ = std::move(old_[old_.size() - 2]);
      old_.pop_back();
      old_.back() = std::move(merged);
    }
  }

  memory_resource* resource_;
  index_layout layout_;
  buffer_policy buffers_;
  std::vector<run_pointer> old_;    // eldest first
  std::vector<run_pointer> delta_;  // one, unless delta exceeds the size of a run or comprises all rows
  // `hash` mode:
  open_run few_old_;    // the last old rows
  open_run few_delta_;  // a delta of few rows
  run_pointer spare_;   // eager buffer management: the buffers of the last merge
  std::uint64_t indexed_ = 0;
  std::uint64_t delta_begin_ = 0;
  column_pointers pointers_;
};

}  // namespace gpulog::storage
