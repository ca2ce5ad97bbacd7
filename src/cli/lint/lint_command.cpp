#include "cli/lint/lint_command.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/messages.hpp"
#include "cli/standard_input.hpp"
#include "cli/subcommands.hpp"
#include "gpulog/program.hpp"

namespace gpulog::cli {

int lint_programs(int count, char** texts) {
  std::vector<std::string> files;
  std::string form;  // read by form_of()
  compile_options options;
  CLI::App app("Reports errors, and valid code that is probably a mistake.", "gpulog lint");
  app.set_help_flag("-h,--help", "print this text");
  app.add_option("files", files, "programs (.dl); - reads standard input")->required();
  const auto value = [&app](const char* names, auto& into, const char* type, const char* description) {
    return app.add_option(names, into, description)->type_name(type)->allow_extra_args(false);
  };
  value("--wno", options.left_out_warnings, "NAME",
        "leave out the warnings of this name, as cross-product (repeatable)");
  app.add_flag("--portable", options.portable, "also warn about extensions that Soufflé does not have");
  value("-I,--include-dir", options.include_directories, "DIR", "folder that .include searches (repeatable)");
  value("-M,--macro", options.macros, "TEXT", "a macro, as A or B=1 (repeatable)");
  value("--diagnostics", form, "FORM", "text, or json with one object per line")
      ->check(CLI::Validator(
          [](const std::string& text) {
            return std::string(text == "text" || text == "json" ? "" : "may only be set to text or json");
          },
          ""));
  if (!parse_options(app, count, texts)) return 0;
  warn_of_unknown_warnings("--wno", options.left_out_warnings);
  options.warnings = std::find(options.left_out_warnings.begin(), options.left_out_warnings.end(), "all") ==
                     options.left_out_warnings.end();
  options.lint = options.expects_output = true;
  int status = 0;
  for (const std::string& file : files) {
    const program source = file == standard_input_name ? program::from_text(standard_input(), options, "stdin")
                                                       : program::from_file(file, options);
    print_remarks(source.diagnostics(), source.report());
    if (!source.diagnostics().empty()) status = 1;
  }
  return status;
}

}  // namespace gpulog::cli
