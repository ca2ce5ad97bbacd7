#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

/// Messages go to standard error. Nothing about them ends a run: where they cannot be written, they are lost.
namespace gpulog::cli {

/// Writes as much of it as standard error takes.
void print_message(std::string_view text) noexcept;

template <class First, class... Others>
void print_message(fmt::format_string<First, Others...> format, First&& first, Others&&... others) {
  print_message(fmt::format(format, std::forward<First>(first), std::forward<Others>(others)...));
}

/// To be called before any file is opened. A standard stream that is closed would be the next file that is opened: its
/// place is taken by one that cannot be read or written (standard error: that takes all). Writing to a closed pipe, or
/// over a limit for the size of files, becomes an error of the write instead of a signal.
void prepare_standard_streams();

}  // namespace gpulog::cli
