#pragma once

#include <histedit.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace gpulog::cli {

/// Reads lines from a terminal, with editing and a history.
class line_editor {
 public:
  /// @param history_file file that keeps the lines between sessions; no history if empty or inaccessible
  explicit line_editor(std::filesystem::path history_file);
  line_editor(const line_editor&) = delete;
  line_editor& operator=(const line_editor&) = delete;
  ~line_editor() = default;

  enum class event : std::uint8_t {
    line,
    abandoned,  ///< Ctrl-C
    end,        ///< Ctrl-D, or the terminal is closed
  };
  struct input {
    event what = event::end;
    std::string text;  ///< the line, with its line break
  };
  [[nodiscard]] input read(const std::string& prompt);

 private:
  static char* prompt_of(EditLine* editor);
  static unsigned char abandon(EditLine* editor, int character);
  void remember(const std::string& line);

  struct closer {
    void operator()(EditLine* editor) const { el_end(editor); }
    void operator()(History* history) const { history_end(history); }
  };
  std::filesystem::path history_file_;
  std::string prompt_;
  bool is_abandoned_ = false;
  std::unique_ptr<History, closer> history_;
  std::unique_ptr<EditLine, closer> editor_;
};

/// Returns the path of the history: gpulog/history in $XDG_STATE_HOME, or in ~/.local/state. Empty if neither folder is
/// known.
[[nodiscard]] std::filesystem::path history_file();

}  // namespace gpulog::cli
