#include "cli/repl/line_editor.hpp"

#include <unistd.h>

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "cli/repl/completion.hpp"
#include "gpulog/error.hpp"

namespace gpulog::cli {
namespace {

constexpr int history_lines = 1000;

line_editor& owner_of(EditLine* editor) {
  void* self = nullptr;
  el_get(editor, EL_CLIENTDATA, &self);
  return *static_cast<line_editor*>(self);
}

}  // namespace

line_editor::line_editor(std::filesystem::path history_file, candidates_after candidates)
    : history_file_(std::move(history_file)), candidates_(std::move(candidates)), history_(history_init()) {
  // Otherwise the editor does not recognize UTF-8 characters.
  if (std::setlocale(LC_CTYPE, "") == nullptr || MB_CUR_MAX == 1) std::setlocale(LC_CTYPE, "C.UTF-8");
  editor_.reset(el_init("gpulog", stdin, stdout, stderr));
  if (!editor_ || !history_) throw input_error("Cannot read lines from this terminal");
  EditLine* const editor = editor_.get();
  el_set(editor, EL_CLIENTDATA, this);
  el_set(editor, EL_PROMPT, &line_editor::prompt_of);
  el_set(editor, EL_EDITOR, "emacs");
  el_set(editor, EL_SIGNAL, 1);
  el_set(editor, EL_HIST, ::history, history_.get());
  el_set(editor, EL_ADDFN, "complete", "Complete the word", &line_editor::complete_word);
  el_set(editor, EL_BIND, "^I", "complete", nullptr);
  el_source(editor, nullptr);  // reads the user's ~/.editrc
  // Ctrl-C is a key while a line is read, and a signal while a query runs.
  el_set(editor, EL_SETTY, "-d", "-isig", nullptr);
  el_set(editor, EL_ADDFN, "abandon", "Leave the line", &line_editor::abandon);
  el_set(editor, EL_BIND, "^C", "abandon", nullptr);
  HistEvent event{};
  ::history(history_.get(), &event, H_SETSIZE, history_lines);
  ::history(history_.get(), &event, H_SETUNIQUE, 1);
  if (!history_file_.empty()) ::history(history_.get(), &event, H_LOAD, history_file_.c_str());
}

char* line_editor::prompt_of(EditLine* editor) { return owner_of(editor).prompt_.data(); }

unsigned char line_editor::abandon(EditLine* editor, int /*character*/) {
  owner_of(editor).is_abandoned_ = true;
  return CC_NEWLINE;
}

unsigned char line_editor::complete_word(EditLine* editor, int /*character*/) {
  const LineInfo* const line = el_line(editor);
  const std::string_view text(line->buffer, static_cast<std::size_t>(line->cursor - line->buffer));
  const std::string_view before = text.substr(0, last_word(text));
  const std::string_view word = text.substr(before.size());
  const auto insert = [&](const char* more) -> unsigned char {
    return el_insertstr(editor, more) == 0 ? CC_REFRESH : CC_ERROR;
  };
  if (word.empty()) return insert("\t");  // pasted programs have tabs between words
  const completion found = complete(word, owner_of(editor).candidates_(before));
  if (!found.rest.empty()) return insert(found.rest.c_str());
  if (found.words.size() < 2) return CC_REFRESH_BEEP;
  std::fputs(("\n" + in_lines(found.words)).c_str(), stdout);
  return CC_REDISPLAY;
}

line_editor::input line_editor::read(const std::string& prompt, bool is_kept) {
  prompt_ = prompt;
  is_abandoned_ = false;
  int length = 0;
  // Before the prompt invites the user to type.
  el_set(editor_.get(), EL_PREP_TERM, 1);
  const char* const line = el_gets(editor_.get(), &length);
  if (is_abandoned_) {
    std::fputs("^C\n", stdout);
    return {event::abandoned, {}};
  }
  if (line == nullptr || length <= 0) return {};
  input result{event::line, {line, static_cast<std::size_t>(length)}};
  if (!result.text.ends_with('\n')) result.text += '\n';
  if (is_kept) remember(result.text);
  return result;
}

void line_editor::remember(const std::string& line) {
  if (line.find_first_not_of(" \t\n") == std::string::npos) return;
  HistEvent event{};
  ::history(history_.get(), &event, H_ENTER, line.c_str());
  if (history_file_.empty()) return;
  // Saved after each line, because closing the window may end the session.
  std::error_code ignored;
  const std::filesystem::path folder = history_file_.parent_path();
  std::filesystem::create_directories(folder, ignored);
  ::history(history_.get(), &event, H_SAVE, history_file_.c_str());
}

std::filesystem::path history_file(std::string_view name) {
  const auto folder_in = [](const char* variable) {
    const char* const value = std::getenv(variable);
    const std::filesystem::path folder = value == nullptr ? "" : value;
    return folder.is_absolute() ? folder : std::filesystem::path();
  };
  if (const auto state = folder_in("XDG_STATE_HOME"); !state.empty()) return state / "gpulog" / name;
  if (const auto home = folder_in("HOME"); !home.empty()) return home / ".local" / "state" / "gpulog" / name;
  return {};
}

}  // namespace gpulog::cli
