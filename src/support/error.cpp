#include "support/error.hpp"

namespace gpulog {

internal_error::internal_error(const std::string& message, std::source_location where)
    : std::logic_error("internal error: " + message + " (" + where.file_name() + ":" + std::to_string(where.line()) +
                       ")") {}

}  // namespace gpulog
