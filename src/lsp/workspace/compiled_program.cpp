#include "lsp/workspace/compiled_program.hpp"

#include <algorithm>

#include "sema/analysis.hpp"
#include "sema/rewriting/text_tests.hpp"
#include "support/error.hpp"

namespace gpulog::lsp {

const source_file* compiled_program::find_file(const std::string& identity) const {
  for (const auto& file : sources.files()) {
    if (file->full_path() == identity) return file.get();
  }
  return nullptr;
}

bool compiled_program::includes(const std::string& identity) const {
  const std::vector<std::string>& skipped = sources.passed_over();
  return find_file(identity) != nullptr || std::any_of(skipped.begin(), skipped.end(), [&](const std::string& path) {
           return sources.identity(path) == identity;
         });
}

const text_index& compiled_program::index(const source_file& file) const {
  std::unique_ptr<text_index>& index = indexes_[&file];
  if (!index) index = std::make_unique<text_index>(file.text(), encoding_);
  return *index;
}

const name_index& compiled_program::names() const {
  if (!names_) names_ = std::make_unique<name_index>(tree);
  return *names_;
}

const file_tokens& compiled_program::tokens(const source_file& file) const {
  std::unique_ptr<file_tokens>& tokens = tokens_[&file];
  if (!tokens) {
    tokens = std::make_unique<file_tokens>();
    tokens->pieces = syntax::pieces_of(file);
    tokens->items = syntax::items_of(tokens->pieces);
  }
  return *tokens;
}

syntax::parse_options parse_options_of(const workspace_settings& settings) {
  syntax::parse_options options;
  options.include_directories = settings.include_directories;
  options.include_directories.insert(options.include_directories.end(), settings.folders.begin(),
                                     settings.folders.end());
  options.macros = settings.macros;
  options.deepest = settings.deepest;
  return options;
}

std::unique_ptr<compiled_program> compile(const std::string& main_file, const open_texts& texts,
                                          const workspace_settings& settings) {
  auto result = std::make_unique<compiled_program>(settings.encoding);
  for (const auto& [identity, text] : texts) result->sources.replace_file(identity, text);
  try {
    result->main = &result->sources.load(main_file);
  } catch (const user_error& failure) {
    result->report.error(failure.what());
    return result;
  }
  result->main->set_full_path(main_file);
  result->tree = syntax::parse(*result->main, result->sources, result->report, parse_options_of(settings));
  std::vector<syntax::query> no_queries;
  sema::replace_text_tests(result->tree, no_queries);
  if (!result->report.has_errors()) result->analysed = sema::analyse(result->tree, result->report);
  return result;
}

}  // namespace gpulog::lsp
