#include "cli/standard_input.hpp"

#include <cstddef>
#include <cstdio>

#include "gpulog/error.hpp"

namespace gpulog::cli {

std::string standard_input() {
  std::string text;
  constexpr std::size_t block = std::size_t{1} << 16;
  for (;;) {
    const std::size_t before = text.size();
    text.resize(before + block);
    const std::size_t count = std::fread(text.data() + before, 1, block, stdin);
    text.resize(before + count);
    if (count == 0) break;
  }
  if (std::ferror(stdin) != 0) throw input_error("Cannot read the program from standard input");
  return text;
}

}  // namespace gpulog::cli
