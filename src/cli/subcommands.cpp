#include "cli/subcommands.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>

#include "cli/format/format_command.hpp"
#include "cli/help_text.hpp"
#include "cli/lint/lint_command.hpp"
#include "cli/lsp/lsp_command.hpp"
#include "cli/profile/profile.hpp"
#include "cli/test/test_command.hpp"
#include "gpulog/error.hpp"

namespace gpulog::cli {
namespace {

constexpr subcommand subcommands[] = {
    {"fmt", "FILE...", format_programs},
    {"lint", "FILE...", lint_programs},
    {"lsp", "", serve_editor},
    {"profile", "RECORD [RECORD]", show_profile},
    {"test", "[PATH...] [-- OPTION...]", test_programs},
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
    text += fmt::format("       gpulog {} [OPTIONS]{}{}\n", each.name, each.operands.empty() ? "" : " ", each.operands);
  return text;
}

bool parse_options(CLI::App& app, int count, char** texts) {
  std::vector<std::string> rest(texts + 2, texts + count);
  std::reverse(rest.begin(), rest.end());
  try {
    app.parse(rest);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", wrapped_help(app.help()));
    return false;
  } catch (const CLI::ParseError& failure) {
    throw input_error(fmt::format("{} ({} --help lists the options)", failure.what(), app.get_name()));
  }
  return true;
}

}  // namespace gpulog::cli
