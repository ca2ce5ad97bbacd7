#include "lsp/protocol/uri.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace gpulog::lsp {

namespace {

constexpr std::string_view file_scheme = "file://";

bool stays_in_uri(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-._~/").find(c) != std::string_view::npos;
}

}  // namespace

std::string path_of(std::string_view uri) {
  if (!uri.starts_with(file_scheme)) return std::string(uri);
  std::string_view rest = uri.substr(file_scheme.size());
  rest.remove_prefix(std::min(rest.find('/'), rest.size()));  // the host
  std::string path;
  for (std::size_t at = 0; at < rest.size(); ++at) {
    unsigned value = 0;
    const char* const digits = rest.data() + at + 1;
    const bool is_code =
        rest[at] == '%' && at + 2 < rest.size() && std::from_chars(digits, digits + 2, value, 16).ptr == digits + 2;
    path += is_code ? static_cast<char>(value) : rest[at];
    if (is_code) at += 2;
  }
  return path;
}

std::string uri_of(std::string_view path) {
  if (!path.starts_with('/')) return std::string(path);
  std::string uri(file_scheme);
  for (const char c : path) {
    if (stays_in_uri(c)) {
      uri += c;
      continue;
    }
    constexpr std::string_view digits = "0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(c);
    uri += '%';
    uri += digits[byte / digits.size()];
    uri += digits[byte % digits.size()];
  }
  return uri;
}

}  // namespace gpulog::lsp
