#pragma once

#include <string>

#include "lsp/features/place.hpp"
#include "lsp/workspace/workspace.hpp"

namespace gpulog::lsp {

/// Returns the range of the name at the offset; null without a name.
/// @throws request_error with the reason if the name cannot be renamed
[[nodiscard]] json renamable_at(const file_view& view, std::size_t offset);

/// Returns the edits that rename the symbol at the offset in all programs that read the file.
/// @throws request_error if a program would have another meaning
[[nodiscard]] json rename_at(workspace& all, const document& source, std::size_t offset, const std::string& name);

}  // namespace gpulog::lsp
