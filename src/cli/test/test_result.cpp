#include "cli/test/test_result.hpp"

#include <nlohmann/json.hpp>

namespace gpulog::cli {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(test_point, path, line, text, fault, detail)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(rule_coverage, location, rule, derives)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(test_result, points, updated, rules, seconds)

std::vector<std::uint8_t> to_bytes(const test_result& result) {
  return nlohmann::json::to_cbor(nlohmann::json(result));
}

test_result result_from_bytes(const std::vector<std::uint8_t>& bytes) {
  return nlohmann::json::from_cbor(bytes).get<test_result>();
}

}  // namespace gpulog::cli
