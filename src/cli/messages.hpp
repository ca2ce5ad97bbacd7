#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpulog/diagnostic.hpp"

/// Messages go to standard error. A message that cannot be written is lost and never ends a run.
namespace gpulog::cli {

/// Writes the text, or the prefix that standard error accepts. Erases a progress line first.
void print_message(std::string_view text) noexcept;
/// Replaces the progress line of the terminal, without a newline.
void print_progress(const std::string& line);
void erase_progress() noexcept;

template <class First, class... Others>
void print_message(fmt::format_string<First, Others...> format, First&& first, Others&&... others) {
  print_message(fmt::format(format, std::forward<First>(first), std::forward<Others>(others)...));
}

/// Ends the process as other tools end, by SIGPIPE, if standard output is a pipe without a reader.
void end_without_reader();

/// Form of errors and warnings.
enum class message_form : std::uint8_t {
  plain,
  coloured,
  json,  ///< one object per line
};
/// Sets the form of all later messages; the default is plain.
void set_message_form(message_form form);

/// Returns the last value of `--name value` or `--name=value`; empty: none.
[[nodiscard]] std::string last_value_of(std::string_view name, const std::vector<std::string>& arguments);

/// Returns the form for the last values of the options --color (auto, always, never) and --diagnostics (text, json);
/// `auto` is coloured on a terminal, unless NO_COLOR is set.
[[nodiscard]] message_form form_of(const std::vector<std::string>& arguments);

/// Prints a message without a source location.
void print_remark(severity level, std::string_view message);
/// Prints the texts of remarks, or their objects.
void print_remarks(const std::vector<diagnostic>& remarks);
/// @param report the same remarks as text
void print_remarks(const std::vector<diagnostic>& remarks, std::string_view report);

/// Prepares the standard streams; call before opening any file. A closed standard stream is replaced by a stream that
/// cannot be read or written (standard error: that accepts everything), because the next opened file would otherwise
/// get its number. Writing to a closed pipe, or past a file size limit, becomes a write error instead of a signal.
void prepare_standard_streams();

}  // namespace gpulog::cli
