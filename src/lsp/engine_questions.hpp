#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace gpulog::lsp {

/// A file of a program, with the text of the editor.
struct program_file {
  std::string path;
  std::string identity;
  std::string text;
};

/// A program whose plan or results an editor asks for.
struct asked_program {
  std::vector<program_file> files;  ///< the main file first
  std::vector<std::string> include_directories;
  std::vector<std::string> macros;
  std::string fact_folder;
};

/// Questions about plans and results, which need the engine. Empty functions: the editor cannot ask. Both throw
/// std::exception with a message for the user.
struct engine_questions {
  /// Returns the plan of all rules as text.
  std::function<std::string(const asked_program&)> plan_of;
  /// Runs the program, and explains why the tuples of an atom exist, or why a tuple does not exist. Runs in a thread of
  /// its own, and throws soon, once `cancelled` is set; may set `cancelled` itself.
  std::function<std::string(const asked_program&, const std::string& atom, std::atomic<bool>& cancelled)> explain;
};

}  // namespace gpulog::lsp
