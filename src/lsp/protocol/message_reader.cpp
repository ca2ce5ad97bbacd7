#include "lsp/protocol/message_reader.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>

namespace gpulog::lsp {

namespace {

constexpr std::size_t read_bytes = std::size_t{1} << 16;
constexpr std::size_t longest_line = std::size_t{1} << 16;
constexpr std::string_view length_header = "content-length:";

/// Returns the number in a line `Content-Length: 12`; nothing for a different line.
std::optional<std::size_t> announced_length(std::string_view line) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  const bool is_length =
      line.size() > length_header.size() && std::equal(length_header.begin(), length_header.end(), line.begin(),
                                                       [lower](char header, char c) { return header == lower(c); });
  if (!is_length) return std::nullopt;
  line.remove_prefix(length_header.size());
  while (line.starts_with(' ')) line.remove_prefix(1);
  std::size_t length = 0;
  const auto [end, fault] = std::from_chars(line.data(), line.data() + line.size(), length);
  if (fault == std::errc::result_out_of_range) return longest_message + 1;
  if (fault != std::errc() || end != line.data() + line.size()) return std::nullopt;
  return length;
}

}  // namespace

bool message_reader::fill() {
  if (begin_ > 0) {
    buffer_.erase(0, begin_);
    begin_ = 0;
  }
  const std::size_t before = buffer_.size();
  buffer_.resize(before + read_bytes);
  const std::size_t count = read_(buffer_.data() + before, read_bytes);
  buffer_.resize(before + count);
  return count > 0;
}

std::optional<std::string> message_reader::line() {
  std::size_t searched = 0;
  for (;;) {
    const std::size_t end = buffer_.find('\n', begin_ + searched);
    if (end != std::string::npos) {
      std::string result = buffer_.substr(begin_, end - begin_);
      begin_ = end + 1;
      if (result.ends_with('\r')) result.pop_back();
      return result;
    }
    searched = buffer_.size() - begin_;
    if (searched > longest_line || !fill()) return std::nullopt;
  }
}

std::optional<std::string> message_reader::next() {
  std::optional<std::size_t> length;
  for (;;) {
    const std::optional<std::string> header = line();
    if (!header) return std::nullopt;
    if (const auto announced = announced_length(*header)) length = announced;
    if (header->empty() && length) break;
  }
  if (*length > longest_message) return std::nullopt;
  while (buffer_.size() - begin_ < *length) {
    if (!fill()) return std::nullopt;
  }
  std::string content = buffer_.substr(begin_, *length);
  begin_ += *length;
  return content;
}

std::string framed(const std::string& content) {
  return "Content-Length: " + std::to_string(content.size()) + "\r\n\r\n" + content;
}

}  // namespace gpulog::lsp
