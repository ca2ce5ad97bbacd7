#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

namespace gpulog::io {

/// A text that becomes a zstd file of one frame. libzstd's own threads compress pieces of it; the bytes do not depend
/// on their number.
class zstd_text {
 public:
  /// @param threads that compress
  /// @param sink gets the compressed bytes, in order
  zstd_text(unsigned threads, std::function<void(std::string_view)> sink);
  zstd_text(const zstd_text&) = delete;
  zstd_text& operator=(const zstd_text&) = delete;
  ~zstd_text();
  void write(std::string_view text);
  /// Behind the last write().
  void end();

 private:
  struct state;
  /// Takes what it can from the text. @return how many bytes wait inside, at least
  std::size_t compress(std::string_view& text, bool is_last);

  std::function<void(std::string_view)> sink_;
  std::unique_ptr<state> state_;
};

}  // namespace gpulog::io
