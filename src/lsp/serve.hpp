#pragma once

#include "lsp/server.hpp"

namespace gpulog::lsp {

/// Serves a client over standard input and output, until the client exits, closes the input, or its process ends.
/// @return the exit status
[[nodiscard]] int serve(server_options options);

}  // namespace gpulog::lsp
