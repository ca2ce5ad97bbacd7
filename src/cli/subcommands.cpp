#include "cli/subcommands.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "cli/format/format_command.hpp"
#include "cli/profile/profile.hpp"

namespace gpulog::cli {
namespace {

constexpr subcommand subcommands[] = {
    {"fmt", "FILE...", format_programs},
    {"profile", "RECORD [RECORD]", show_profile},
};

}  // namespace

const subcommand* find_subcommand(std::string_view name) {
  const auto* const found = std::find_if(std::begin(subcommands), std::end(subcommands),
                                         [name](const subcommand& each) { return each.name == name; });
  return found == std::end(subcommands) ? nullptr : found;
}

std::vector<std::string> subcommand_names() {
  std::vector<std::string> names;
  for (const subcommand& each : subcommands) names.emplace_back(each.name);
  return names;
}

std::string subcommand_usages() {
  std::string text;
  for (const subcommand& each : subcommands)
    text += fmt::format("       gpulog {} [OPTIONS] {}\n", each.name, each.operands);
  return text;
}

}  // namespace gpulog::cli
