#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "exec/executor.hpp"

namespace gpulog::exec {

/// Rows materialized piece by piece; only pieces being read are in memory.
class piecewise_stream : public row_stream {
 public:
  class piece {
   public:
    piece() = default;
    piece(const piece&) = delete;
    piece& operator=(const piece&) = delete;
    virtual ~piece() = default;
    /// Writes rows [first, first + n) of the piece. Thread-safe.
    virtual void write(std::uint64_t first, std::uint64_t n, word* const* columns) const = 0;
  };

  /// @throws backend::memory_exceeded
  void read(std::uint64_t first, std::uint64_t n, word* const* columns) final {
    const auto found = std::upper_bound(begins_.begin(), begins_.end(), first) - 1;
    std::vector<word*> out(arity_);
    auto number = static_cast<std::size_t>(found - begins_.begin());
    for (std::uint64_t done = 0; done < n; ++number) {
      const std::uint64_t offset = first + done - begins_[number];
      const std::uint64_t here = std::min(n - done, begins_[number + 1] - begins_[number] - offset);
      if (here == 0) continue;
      for (std::size_t c = 0; c < out.size(); ++c) out[c] = columns[c] + done;
      made(number)->write(offset, here, out.data());
      finish(number, here);
      done += here;
    }
  }

 protected:
  /// @param begins number of rows before each piece, then the number of all rows
  piecewise_stream(std::vector<std::uint64_t> begins, std::size_t arity)
      : begins_(std::move(begins)), arity_(arity), pieces_(begins_.size() - 1) {
    for (std::size_t number = 0; number < pieces_.size(); ++number)
      pieces_[number].left = begins_[number + 1] - begins_[number];
  }
  [[nodiscard]] std::size_t arity() const { return arity_; }
  /// May be called for several pieces concurrently.
  [[nodiscard]] virtual std::shared_ptr<const piece> make(std::size_t number) = 0;

 private:
  struct open_piece {
    std::mutex making;
    std::shared_ptr<const piece> rows;  // nullptr: not materialized yet, or completely read
    std::uint64_t left = 0;             // unread rows
  };

  [[nodiscard]] std::shared_ptr<const piece> made(std::size_t number) {
    open_piece& one = pieces_[number];
    const std::lock_guard<std::mutex> alone(one.making);
    if (one.rows == nullptr) one.rows = make(number);
    return one.rows;
  }
  void finish(std::size_t number, std::uint64_t rows) {
    open_piece& one = pieces_[number];
    const std::lock_guard<std::mutex> alone(one.making);
    one.left -= std::min(one.left, rows);
    if (one.left == 0) one.rows.reset();
  }

  std::vector<std::uint64_t> begins_;
  std::size_t arity_;
  std::vector<open_piece> pieces_;
};

}  // namespace gpulog::exec
