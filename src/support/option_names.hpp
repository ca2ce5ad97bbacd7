#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gpulog {

/// How messages name the options of the caller.
enum class option_form : std::uint8_t {
  keyword,  ///< word_size=64, as in Python and C++
  flag,     ///< --word-size 64, as on the command line
};

/// Sets the form of all later messages of this process; the default is keyword.
void set_option_form(option_form form);
[[nodiscard]] option_form current_option_form();

/// Returns an option for a message.
/// @param flag name on the command line, without the dashes
/// @param value empty: only the name
[[nodiscard]] std::string option_named(std::string_view flag, std::string_view value = {});

}  // namespace gpulog
