#pragma once

#include <string>

#include "syntax/ast.hpp"

/// Trees as Soufflé text; what is printed parses back to an equal tree.
namespace gpulog::syntax {

[[nodiscard]] std::string print(const program& node);
[[nodiscard]] std::string print(const item& node);
[[nodiscard]] std::string print(const clause& node);
[[nodiscard]] std::string print(const literal& node);
[[nodiscard]] std::string print(const atom& node);
[[nodiscard]] std::string print(const argument& node);

/// The text between quotes, as a string constant is written: escapes where needed, quotes around.
[[nodiscard]] std::string quoted(const std::string& text);

}  // namespace gpulog::syntax
