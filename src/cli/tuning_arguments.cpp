#include "cli/tuning_arguments.hpp"

#include <fmt/core.h>

#include <cstddef>
#include <utility>

namespace gpulog::cli {

namespace {

/// Defaults of the command: relations that no output depends on are dropped, as in Soufflé.
constexpr std::pair<const char*, const char*> tuning_of_command[] = {{"unneeded-relations", "on"}};

}  // namespace

std::string tuning_help() {
  constexpr std::size_t name_width = 26;
  std::string text = "Settings of the planner and the engine. They change no result. --tune NAME=VALUE, repeatable:\n";
  for (const tuning_choice& choice : tuning_choices()) {
    std::string standard = choice.standard;
    for (const auto& [name, value] : tuning_of_command) {
      if (choice.name == name) standard = value;
    }
    text += fmt::format("{:<{}}{}; {} (default: {})\n", choice.name, name_width, choice.description, choice.values,
                        standard);
  }
  return text;
}

std::string read_tuning(const std::vector<std::string>& texts, run_options& options) {
  for (const auto& [name, value] : tuning_of_command) options.tuning.emplace(name, value);
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return fmt::format("--tune has to be NAME=VALUE, not '{}' (--tune help lists names and values)", text);
    }
    std::string name = text.substr(0, equals);
    std::string value = text.substr(equals + 1);
    if (const std::string fault = tuning_fault(name, value); !fault.empty()) {
      return fmt::format("--tune {}: {} (--tune help lists names and values)", text, fault);
    }
    options.tuning.insert_or_assign(std::move(name), std::move(value));
  }
  return {};
}

}  // namespace gpulog::cli
