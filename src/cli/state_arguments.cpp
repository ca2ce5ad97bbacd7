#include "cli/state_arguments.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <system_error>

namespace gpulog::cli {

void add_state_options(CLI::App& app, const std::string& group, run_options& options) {
  const auto add = [&](const char* name, std::string& into, const char* type, const char* description) {
    const auto fault_of = [](const std::string& text) { return std::string(text.empty() ? "its value is empty" : ""); };
    app.add_option(name, into, description)
        ->type_name(type)
        ->allow_extra_args(false)
        ->group(group)
        ->check(CLI::Validator(fault_of, ""));
  };
  add("--state", options.state_file, "FILE",
      "store the results in a file; the next run computes only the effect of changed fact files");
  app.add_flag("--state-strict", options.state_is_required, "end with an error if the file of --state cannot be used")
      ->group(group);
  add("--changes", options.changes_directory, "DIR",
      "folder for the tuples of each .output that are new or lost since the stored run (with --state)");
}

std::string state_fault(const arguments& given, bool is_image) {
  const run_options& options = given.run;
  if (options.state_file.empty()) {
    if (!options.changes_directory.empty()) return "--changes needs --state";
    return options.state_is_required ? "--state-strict needs --state" : "";
  }
  if (given.program_file.empty() && !is_image) return "--state needs a program";
  std::error_code ignored;
  if (options.changes_directory.empty() || std::filesystem::is_directory(options.changes_directory, ignored)) return {};
  return fmt::format("Folder {} of --changes does not exist", options.changes_directory);
}

}  // namespace gpulog::cli
