#pragma once

#include <regex>
#include <string>

namespace gpulog::oracle {

/// Returns a message about too little memory with N for each size that depends on the growth of containers. Limits and
/// locations stay.
inline std::string without_sizes(const std::string& message) {
  static const std::regex size("[0-9]+( more bytes| tuples| bytes in use| bytes\\)| for symbols| for records)");
  return std::regex_replace(message, size, "N$1");
}

}  // namespace gpulog::oracle
