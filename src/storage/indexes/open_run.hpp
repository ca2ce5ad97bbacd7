#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>

#include "storage/indexes/sorted_run.hpp"

namespace gpulog::storage {

/// A run over few rows [begin, end) of a relation that grows in place and keeps its memory when it is emptied, so that
/// an iteration with a tiny delta allocates nothing. Rows of a key are adjacent, but keys are not in order: it can be
/// searched, and not merged.
class open_run {
 public:
  static constexpr std::uint64_t most_rows = 64;

  [[nodiscard]] bool is_empty() const { return begin_ == end_; }
  [[nodiscard]] std::uint64_t rows() const { return end_ - begin_; }
  [[nodiscard]] std::uint64_t begin() const { return begin_; }
  [[nodiscard]] std::uint64_t end() const { return end_; }
  [[nodiscard]] const sorted_run& run() const { return *run_; }
  [[nodiscard]] std::uint64_t bytes() const { return run_ ? run_->bytes() : 0; }
  void clear() { begin_ = end_ = 0; }

  /// Replaces the rows by [begin, end). @param room rows that fit; those that append() adds are among them
  /// @throws memory_exceeded, and it is empty
  void assign(memory_resource& resource, const index_layout& layout, const column_pointers& columns,
              std::uint64_t begin, std::uint64_t end, std::uint64_t room) {
    clear();
    if (!run_) run_.emplace(resource, layout, false);
    run_->open(room);
    if (!append_rows(layout, columns, begin, end)) {
      run_->open(room);
      append_sorted(layout, columns, begin, end);
    }
    begin_ = begin;
    end_ = end;
  }

  /// Adds rows up to `end`, for which there is room. @return false: their keys are apart from others of the same key;
  /// then it has to be cleared or assigned
  [[nodiscard]] bool append(const index_layout& layout, const column_pointers& columns, std::uint64_t end) {
    if (!append_rows(layout, columns, end_, end)) return false;
    end_ = end;
    return true;
  }

 private:
  bool append_rows(const index_layout& layout, const column_pointers& columns, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t row = begin; row < end; ++row) {
      if (!run_->append(layout, columns, row)) return false;
    }
    return true;
  }

  void append_sorted(const index_layout& layout, const column_pointers& columns, std::uint64_t begin,
                     std::uint64_t end) {
    std::uint64_t order[most_rows];
    std::iota(order, order + (end - begin), begin);
    const std::uint32_t length = layout.sorted_columns();
    std::sort(order, order + (end - begin), [&](std::uint64_t a, std::uint64_t b) {
      for (std::uint32_t c = 0; c < length; ++c) {
        const word* const column = columns[layout.order[c]];
        if (column[a] != column[b]) return column[a] < column[b];
      }
      return a < b;
    });
    for (std::uint64_t i = 0; i < end - begin; ++i) static_cast<void>(run_->append(layout, columns, order[i]));
  }

  std::optional<sorted_run> run_;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
};

}  // namespace gpulog::storage
