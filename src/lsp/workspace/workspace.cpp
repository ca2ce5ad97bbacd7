#include "lsp/workspace/workspace.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "lsp/protocol/uri.hpp"

namespace gpulog::lsp {

namespace {

std::string identity_of_uri(const std::string& uri) { return source_manager().identity(path_of(uri)); }

}  // namespace

void workspace::configure(workspace_settings settings) {
  settings_ = std::move(settings);
  forget_files();
}

void workspace::open(const std::string& uri, std::string text, std::int64_t version) {
  const std::string identity = identity_of_uri(uri);
  document& opened = documents_[identity];
  opened = {uri, identity, std::move(text), version, {}};
  opened.includes = included_names(opened.text);
  outdate_all();
}

void workspace::replace(document& changed, const text_position& begin, const text_position& end,
                        std::string_view text) {
  const text_index index(changed.text, settings_.encoding);
  const std::size_t first = index.offset(begin);
  const std::size_t last = index.offset(end);
  changed.text.replace(std::min(first, last), std::max(first, last) - std::min(first, last), text);
  outdate(changed.identity);
}

void workspace::set_text(document& changed, std::string text) {
  changed.text = std::move(text);
  outdate(changed.identity);
}

void workspace::outdate(const std::string& identity) {
  is_outdated_ = true;
  std::erase_if(programs_,
                [&](const auto& entry) { return entry.second->includes(identity) || entry.second->main == nullptr; });
  document& changed = documents_.at(identity);
  std::vector<std::string> includes = included_names(changed.text);
  if (includes == changed.includes) return;
  changed.includes = std::move(includes);
  mains_.clear();
}

void workspace::close(const std::string& uri) {
  documents_.erase(identity_of_uri(uri));
  forget_files();
}

void workspace::forget_files() {
  includes_.clear();
  outdate_all();
}

void workspace::outdate_all() {
  programs_.clear();
  mains_.clear();
  is_outdated_ = true;
}

document* workspace::find(const std::string& uri) {
  const auto found = documents_.find(identity_of_uri(uri));
  return found == documents_.end() ? nullptr : &found->second;
}

const document* workspace::find_identity(const std::string& identity) const {
  const auto found = documents_.find(identity);
  return found == documents_.end() ? nullptr : &found->second;
}

std::string workspace::uri_of_file(const source_file& file) const {
  const document* const open = find_identity(file.full_path());
  return open != nullptr ? open->uri : uri_of(file.full_path());
}

open_texts workspace::texts() const {
  open_texts result;
  for (const auto& [identity, open] : documents_) result.emplace(identity, open.text);
  return result;
}

const compiled_program& workspace::program(const std::string& main_file) {
  std::unique_ptr<compiled_program>& program = programs_[main_file];
  if (!program) program = compile(main_file, texts(), settings_);
  return *program;
}

const run_figures* workspace::figures_of(const compiled_program& program) {
  if (!settings_.record.empty()) return records_.read(settings_.record);
  if (program.main == nullptr) return nullptr;
  std::vector<std::string> folders = settings_.folders;
  folders.push_back(std::filesystem::path(program.main->full_path()).parent_path().string());
  return records_.newest(folders, std::string(base_name(program.main->full_path())));
}

std::vector<std::string> workspace::roots_of(const std::string& identity) {
  for (const std::string& folder : settings_.folders) includes_.read_folder(folder, true);
  if (settings_.folders.empty()) {
    includes_.read_folder(std::filesystem::path(identity).parent_path().string(), false);
  }
  return includes_.roots_of(identity, texts(), settings_);
}

std::map<std::string, const compiled_program*> workspace::programs_with(const std::string& identity) {
  std::map<std::string, const compiled_program*> result;
  for (const std::string& root : roots_of(identity)) {
    const compiled_program& each = program(root);
    if (each.includes(identity)) result[root] = &each;
  }
  if (result.empty()) result[identity] = &program(identity);
  return result;
}

const std::string& workspace::main_of(const document& source) {
  const auto known = mains_.find(source.identity);
  if (known != mains_.end()) return known->second;
  std::vector<std::string> roots = roots_of(source.identity);
  std::stable_partition(roots.begin(), roots.end(),
                        [this](const std::string& root) { return documents_.contains(root); });
  // The include may be in a comment or in an inactive branch.
  const auto root = std::find_if(roots.begin(), roots.end(),
                                 [&](const std::string& each) { return program(each).includes(source.identity); });
  return mains_[source.identity] = root == roots.end() ? source.identity : *root;
}

const compiled_program& workspace::program_of(const document& source) { return program(main_of(source)); }

std::map<std::string, const compiled_program*> workspace::programs() {
  is_outdated_ = false;
  std::map<std::string, const compiled_program*> result;
  for (const auto& [identity, open] : documents_) {
    const std::string& main = main_of(open);
    result[main] = &program(main);
  }
  std::erase_if(programs_, [&](const auto& entry) { return !result.contains(entry.first); });
  return result;
}

}  // namespace gpulog::lsp
