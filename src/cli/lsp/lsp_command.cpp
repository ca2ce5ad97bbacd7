#include "cli/lsp/lsp_command.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/lsp/engine_answers.hpp"
#include "cli/subcommands.hpp"
#include "gpulog/options.hpp"
#include "lsp/serve.hpp"
#include "support/deep_stack.hpp"

namespace gpulog::cli {

int serve_editor(int count, char** texts) {
  lsp::server_options options;
  bool is_ignored = false;
  CLI::App app("Runs a language server for an editor, on standard input and output.", "gpulog lsp");
  app.set_help_flag("-h,--help", "print this text");
  app.add_flag("--stdio", is_ignored, "use standard input and output (the default)");
  app.add_option("-I,--include-dir", options.settings.include_directories, "folder that .include searches (repeatable)")
      ->type_name("DIR")
      ->allow_extra_args(false);
  app.add_option("-M,--macro", options.settings.macros, "a macro, as A or B=1 (repeatable)")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  if (!parse_options(app, count, texts)) return 0;
  for (std::string& folder : options.settings.include_directories) folder = std::filesystem::absolute(folder).string();
  options.version = version();
  options.questions = engine_answers();
  int status = 1;
  const auto run = [&](std::uint32_t deepest) {
    options.settings.deepest = deepest;
    status = lsp::serve(options);
  };
  if (!on_deep_stack([&] { run(syntax::deepest_nesting); })) run(syntax::max_nesting_depth);
  return status;
}

}  // namespace gpulog::cli
