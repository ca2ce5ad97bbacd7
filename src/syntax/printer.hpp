#pragma once

#include <string>

#include "syntax/ast.hpp"

/// Prints trees as Soufflé text that parses back to an equal tree.
namespace gpulog::syntax {

[[nodiscard]] std::string print(const program& node);
[[nodiscard]] std::string print(const item& node);
[[nodiscard]] std::string print(const clause& node);
[[nodiscard]] std::string print(const literal& node);
[[nodiscard]] std::string print(const atom& node);
[[nodiscard]] std::string print(const argument& node);

/// Returns the text as a string constant, with quotes and the necessary escapes.
[[nodiscard]] std::string quoted(const std::string& text);

}  // namespace gpulog::syntax
