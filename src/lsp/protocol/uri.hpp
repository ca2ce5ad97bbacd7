#pragma once

#include <string>
#include <string_view>

namespace gpulog::lsp {

/// Returns the path of a `file:` URI. Any other URI, as of a text without a file, is its own path.
[[nodiscard]] std::string path_of(std::string_view uri);

/// Returns the URI of an absolute path; a path that is a URI stays.
[[nodiscard]] std::string uri_of(std::string_view path);

}  // namespace gpulog::lsp
