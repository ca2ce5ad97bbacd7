#include "cli/help_text.hpp"

#include <algorithm>
#include <cstddef>

namespace gpulog::cli {

std::string wrapped_help(const std::string& help) {
  constexpr std::size_t columns = 100;
  constexpr std::size_t description = 30;  // column of the descriptions of options
  std::string result;
  for (std::size_t begin = 0; begin < help.size();) {
    const std::size_t end = std::min(help.find('\n', begin), help.size());
    std::string line = help.substr(begin, end - begin);
    while (line.size() > columns) {
      const std::size_t space = line.rfind(' ', columns);
      if (space == std::string::npos || space <= description) break;
      result += line.substr(0, space) + "\n";
      line = std::string(description, ' ') + line.substr(space + 1);
    }
    result += line + "\n";
    begin = end + 1;
  }
  return result;
}

}  // namespace gpulog::cli
