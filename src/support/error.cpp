#include "support/error.hpp"

namespace gpulog {

internal_error::internal_error(const std::string& message, code_place where)
    : std::logic_error("internal error: " + message + " (" + where.file + ":" + std::to_string(where.line) + ")") {}

}  // namespace gpulog
