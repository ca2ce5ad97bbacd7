#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lsp/protocol/text_index.hpp"
#include "syntax/parser.hpp"

namespace gpulog::lsp {

/// Options of all programs of a workspace.
struct workspace_settings {
  std::vector<std::string> folders;              ///< absolute paths
  std::vector<std::string> main_files;           ///< absolute paths
  std::vector<std::string> include_directories;  ///< absolute paths
  std::vector<std::string> macros;
  std::string fact_folder;  ///< absolute path; empty: the folder of the main file
  std::string record;       ///< file of the record of a run; empty: the newest file
  std::uint32_t deepest = syntax::max_nesting_depth;
  position_encoding encoding = position_encoding::utf16;
};

}  // namespace gpulog::lsp
