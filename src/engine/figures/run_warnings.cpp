#include <fmt/core.h>

#include <charconv>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine_state.hpp"
#include "gpulog/engine.hpp"
#include "support/option_names.hpp"

namespace gpulog {
namespace {

/// Sets the place of a remark from "file [line:column-line:column]".
void set_place_of_rule(diagnostic& remark, std::string_view location) {
  const std::size_t bracket = location.rfind(" [");
  if (bracket == std::string_view::npos) return;
  remark.file = location.substr(0, bracket);
  const char* const end = location.data() + location.size();
  const auto line = std::from_chars(location.data() + bracket + 2, end, remark.line);
  if (line.ptr != end) std::from_chars(line.ptr + 1, end, remark.column);
}

diagnostic warning_about(const rule_statistics& rule, unsigned word_size) {
  diagnostic remark;
  remark.level = severity::warning;
  remark.message = fmt::format("A count or sum needs more than {} bits and wraps around in rule:\n{}\nin file {}",
                               word_size, rule.rule, rule.location);
  remark.text = "Warning: " + remark.message + "\n";
  set_place_of_rule(remark, rule.location);
  if (word_size == 64) return remark;
  const std::string hint =
      fmt::format("Numbers have 32 bits here; with {} they have 64 bits", option_named("word-size", "64"));
  remark.notes.emplace_back().message = hint;
  remark.text += hint + "\n";
  return remark;
}

}  // namespace

std::vector<diagnostic> engine::warnings() const {
  std::vector<diagnostic> remarks;
  for (const std::string& message : state_->run().remarks) {
    diagnostic& remark = remarks.emplace_back();
    remark.level = severity::warning;
    remark.message = message;
    remark.text = "Warning: " + message + "\n";
  }
  std::set<std::string> rules;
  for (const stratum_statistics& stratum : figures().strata) {
    for (const rule_statistics& rule : stratum.rules) {
      if (rule.wraps_around && rules.insert(rule.location + rule.rule).second)
        remarks.push_back(warning_about(rule, figures().word_size));
    }
  }
  return remarks;
}

}  // namespace gpulog
