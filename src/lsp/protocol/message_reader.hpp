#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace gpulog::lsp {

/// Longest accepted content of a message. A client that announces more is broken.
inline constexpr std::size_t longest_message = std::size_t{1} << 30;

/// Cuts a stream into messages: `Content-Length: 12`, an empty line, and 12 bytes. Ignores lines that are no header.
class message_reader {
 public:
  /// Reads at most `size` bytes, at least one; returns 0 at the end of the stream.
  using source = std::function<std::size_t(char* to, std::size_t size)>;

  explicit message_reader(source read) : read_(std::move(read)) {}

  /// Returns the content of the next message; nothing at the end of the stream, and after a message or header that is
  /// too long.
  [[nodiscard]] std::optional<std::string> next();

  /// Returns whether bytes were read that belong to no returned message.
  [[nodiscard]] bool has_more() const { return begin_ < buffer_.size(); }

 private:
  /// Reads further bytes into the buffer; returns false at the end of the stream.
  bool fill();
  /// Returns the next line without its line end.
  std::optional<std::string> line();

  source read_;
  std::string buffer_;
  std::size_t begin_ = 0;  ///< of the bytes that were not used
};

/// Returns the content with its header.
[[nodiscard]] std::string framed(const std::string& content);

}  // namespace gpulog::lsp
