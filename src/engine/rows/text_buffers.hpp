#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "io/task_runner.hpp"
#include "io/values/utf8.hpp"
#include "storage/symbols/symbol_table.hpp"
#include "support/ids.hpp"
#include "support/long_vector.hpp"

namespace gpulog::detail {

/// The texts of symbols in Arrow's layout of large texts: the offset of each text, and the bytes.
class text_buffers {
 public:
  /// @param must_be_utf8 whether a text that is not UTF-8 makes ok() false; each symbol is checked once
  text_buffers(const word* symbols, std::uint64_t rows, const storage::symbol_table& table, bool must_be_utf8,
               io::task_runner& run)
      : offsets_(std::make_unique_for_overwrite<std::int64_t[]>(memory_size(rows + 1))) {
    constexpr std::uint64_t least_rows_of_a_part = 1u << 16;
    const auto parts =
        static_cast<std::size_t>(std::clamp<std::uint64_t>(rows / least_rows_of_a_part, 1, run.threads()));
    const auto first_of = [&](std::size_t part) { return static_cast<std::size_t>(rows * part / parts); };
    std::vector<std::int64_t> bytes_of(parts);
    run(parts, [&](std::size_t part) {
      std::int64_t bytes = 0;
      for (std::size_t row = first_of(part); row < first_of(part + 1); ++row) {
        offsets_[row] = bytes;  // relative to the start of the part
        bytes += static_cast<std::int64_t>(table.text(symbols[row]).size());
      }
      bytes_of[part] = bytes;
    });
    std::vector<std::int64_t> begin_of(parts);
    for (std::size_t part = 0; part < parts; ++part) {
      begin_of[part] = bytes_;
      bytes_ += bytes_of[part];
    }
    offsets_[static_cast<std::size_t>(rows)] = bytes_;
    text_ = std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(bytes_));
    long_vector<std::atomic<bool>> known(must_be_utf8 ? table.size() : 0);
    std::atomic<bool> ok = true;
    run(parts, [&](std::size_t part) {
      for (std::size_t row = first_of(part); row < first_of(part + 1); ++row) {
        offsets_[row] += begin_of[part];
        const std::string_view text = table.text(symbols[row]);
        if (must_be_utf8 && !known[symbols[row]].load(std::memory_order_relaxed)) {
          if (!io::is_utf8(text)) ok = false;
          known[symbols[row]].store(true, std::memory_order_relaxed);
        }
        std::memcpy(text_.get() + static_cast<std::ptrdiff_t>(offsets_[row]), text.data(), text.size());
      }
    });
    ok_ = ok;
  }

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] const void* offsets() const { return offsets_.get(); }
  /// Returns nullptr if all texts are empty.
  [[nodiscard]] const void* bytes() const { return bytes_ == 0 ? nullptr : text_.get(); }

 private:
  std::unique_ptr<std::int64_t[]> offsets_;
  std::unique_ptr<char[]> text_;
  std::int64_t bytes_ = 0;
  bool ok_ = true;
};

}  // namespace gpulog::detail
