#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "lsp/protocol/text_index.hpp"

namespace gpulog::lsp {

using json = nlohmann::json;

/// Error codes of JSON-RPC and of the protocol.
enum class error_code : int {
  parse_error = -32700,
  invalid_request = -32600,
  method_not_found = -32601,
  invalid_params = -32602,
  internal_error = -32603,
  not_initialized = -32002,
  request_cancelled = -32800,
  request_failed = -32803,
};

/// Thrown by a request that fails; becomes an error response.
class request_error : public std::runtime_error {
 public:
  request_error(error_code code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] error_code code() const { return code_; }

 private:
  error_code code_;
};

[[nodiscard]] inline json to_json(const text_position& position) {
  return {{"line", position.line}, {"character", position.character}};
}

/// Returns a whole number. @throws json::exception for another value, also for a fraction
[[nodiscard]] inline std::int64_t integer_of(const json& value) { return value.get_ref<const std::int64_t&>(); }

/// @throws json::exception for a value of another form
[[nodiscard]] inline text_position position_of(const json& value) {
  const auto number = [&value](const char* name) {
    // Editors send 2^31 - 1 for "the end of the line".
    return static_cast<std::size_t>(std::max<std::int64_t>(integer_of(value.at(name)), 0));
  };
  return {number("line"), number("character")};
}

/// Returns the range of bytes [begin, end).
[[nodiscard]] inline json range_of(const text_index& index, std::size_t begin, std::size_t end) {
  return {{"start", to_json(index.position(begin))}, {"end", to_json(index.position(end))}};
}

}  // namespace gpulog::lsp
