#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

namespace gpulog::io {

/// Compresses a text to a zstd file of one frame. The threads of libzstd compress pieces of the text; the bytes do not
/// depend on the number of threads.
class zstd_text {
 public:
  /// @param threads number of compressing threads
  /// @param sink receives the compressed bytes, in order
  zstd_text(unsigned threads, std::function<void(std::string_view)> sink);
  zstd_text(const zstd_text&) = delete;
  zstd_text& operator=(const zstd_text&) = delete;
  ~zstd_text();
  void write(std::string_view text);
  /// Ends the frame after the last write().
  void end();

 private:
  struct state;
  /// Consumes a part of the text. @return a lower bound of the bytes that wait inside
  std::size_t compress(std::string_view& text, bool is_last);

  std::function<void(std::string_view)> sink_;
  std::unique_ptr<state> state_;
};

}  // namespace gpulog::io
