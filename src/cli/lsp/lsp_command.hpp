#pragma once

namespace gpulog::cli {

/// Serves an editor: `gpulog lsp ...`.
/// @return the exit status: 1 if the editor did not end the session as the protocol requires
/// @throws error
[[nodiscard]] int serve_editor(int count, char** texts);

}  // namespace gpulog::cli
