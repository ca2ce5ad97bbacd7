#pragma once

#include <histedit.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gpulog::cli {

/// Reads lines from a terminal, with editing, completion of words and a history.
class line_editor {
 public:
  /// Returns the words that may follow the text.
  using candidates_after = std::function<std::vector<std::string>(std::string_view text)>;

  /// @param history_file file that keeps the lines between sessions; no history if empty or inaccessible
  line_editor(std::filesystem::path history_file, candidates_after candidates);
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
  /// @param is_kept whether the history keeps the line
  [[nodiscard]] input read(const std::string& prompt, bool is_kept = true);

 private:
  static char* prompt_of(EditLine* editor);
  static unsigned char abandon(EditLine* editor, int character);
  static unsigned char complete_word(EditLine* editor, int character);
  void remember(const std::string& line);

  struct closer {
    void operator()(EditLine* editor) const { el_end(editor); }
    void operator()(History* history) const { history_end(history); }
  };
  std::filesystem::path history_file_;
  candidates_after candidates_;
  std::string prompt_;
  bool is_abandoned_ = false;
  std::unique_ptr<History, closer> history_;
  std::unique_ptr<EditLine, closer> editor_;
};

/// Returns the path of a history: gpulog/NAME in $XDG_STATE_HOME, or in ~/.local/state. Empty if neither folder is
/// known.
[[nodiscard]] std::filesystem::path history_file(std::string_view name);

}  // namespace gpulog::cli
