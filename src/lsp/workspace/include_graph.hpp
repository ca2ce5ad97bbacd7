#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lsp/workspace/compiled_program.hpp"
#include "lsp/workspace/settings.hpp"

namespace gpulog::lsp {

/// Returns the names in the lines `.include "name"` and `#include "name"` of a text, including commented lines.
[[nodiscard]] std::vector<std::string> included_names(std::string_view text);

/// Which files of the workspace folders include which files.
class include_graph {
 public:
  /// Reads the files of the folder unless it was read before, at most 5,000 files.
  /// @param with_subfolders except hidden ones
  void read_folder(const std::string& folder, bool with_subfolders);
  /// Forgets the files on disk.
  void clear() { names_.clear(), read_.clear(); }

  /// Returns the files without an includer from which `identity` is reached, sorted; without any, `identity`.
  [[nodiscard]] std::vector<std::string> roots_of(const std::string& identity, const open_texts& texts,
                                                  const workspace_settings& settings) const;

 private:
  std::map<std::string, std::vector<std::string>> names_;  ///< included names by the identity of a file on disk
  std::set<std::string> read_;                             ///< folders
};

}  // namespace gpulog::lsp
