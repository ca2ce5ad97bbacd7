#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gpulog/program.hpp"

namespace gpulog::cli {

/// The program that `-o` appends to a copy of gpulog, which then runs without the program's files.
struct program_image {
  std::vector<source_text> sources;    ///< the program's main file first
  std::vector<std::string> arguments;  ///< of the command line that built the executable, without the name of gpulog
  std::string folder;                  ///< absolute path of the working folder at build time
};

/// Writes an executable file: a copy of the running executable with `image` appended. The file is either complete or
/// unchanged.
/// @throws output_error if the file cannot be written
void write_executable(const std::string& path, const program_image& image);

/// Returns the image appended to the running executable; empty for gpulog itself.
/// @throws input_error for a damaged image
[[nodiscard]] std::optional<program_image> own_image();

}  // namespace gpulog::cli
