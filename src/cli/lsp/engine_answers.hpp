#pragma once

#include "lsp/engine_questions.hpp"

namespace gpulog::cli {

/// Returns functions that plan and run programs for an editor.
[[nodiscard]] lsp::engine_questions engine_answers();

}  // namespace gpulog::cli
