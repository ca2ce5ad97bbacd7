#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpulog/diagnostic.hpp"

/// Messages go to standard error. Nothing about them ends a run: where they cannot be written, they are lost.
namespace gpulog::cli {

/// Writes as much of it as standard error takes.
void print_message(std::string_view text) noexcept;

template <class First, class... Others>
void print_message(fmt::format_string<First, Others...> format, First&& first, Others&&... others) {
  print_message(fmt::format(format, std::forward<First>(first), std::forward<Others>(others)...));
}

/// How errors and warnings are shown.
enum class message_form : std::uint8_t {
  plain,
  coloured,
  json,  ///< one object a line
};
/// For all that follow. Plain without it.
void set_message_form(message_form form);

/// What the options --color (auto, always, never) and --diagnostics (text, json) ask for, of which the last ones count;
/// `auto` is coloured on a terminal, unless NO_COLOR is set.
[[nodiscard]] message_form form_of(const std::vector<std::string>& arguments);

/// A message without a place in a program.
void print_remark(severity level, std::string_view message);
/// @param report the same as text
void print_remarks(const std::vector<diagnostic>& remarks, std::string_view report);

/// To be called before any file is opened. A standard stream that is closed would be the next file that is opened: its
/// place is taken by one that cannot be read or written (standard error: that takes all). Writing to a closed pipe, or
/// over a limit for the size of files, becomes an error of the write instead of a signal.
void prepare_standard_streams();

}  // namespace gpulog::cli
