#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gpulog/program.hpp"

namespace gpulog::cli {

/// What `-o` adds to a copy of gpulog: a program that runs without the files it was read from.
struct program_image {
  std::vector<source_text> sources;    ///< the program's own file first
  std::vector<std::string> arguments;  ///< of the command line that made it, without the name of gpulog
  std::string folder;                  ///< that it was made in, from the root
};

/// Makes an executable file: a copy of the running one with `image` behind it. The file is complete or as it was.
/// @throws output_error when it cannot be written
void write_executable(const std::string& path, const program_image& image);

/// The image behind the running executable; nothing when it is gpulog itself. @throws input_error for a broken one
[[nodiscard]] std::optional<program_image> own_image();

}  // namespace gpulog::cli
