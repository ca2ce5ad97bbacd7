#include "lsp/workspace/include_graph.hpp"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

namespace gpulog::lsp {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_files = 5000;
constexpr std::size_t most_entries = 200'000;
constexpr std::size_t most_bytes = std::size_t{1} << 20;  ///< of a file: includes are near its start

bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// Returns the quoted name after the word `include` that ends at `at`; nothing if no directive includes a file there.
std::optional<std::string> name_after_word(std::string_view text, std::size_t word, std::size_t at) {
  std::size_t mark = word;
  while (mark > 0 && is_blank(text[mark - 1])) --mark;
  if (mark == 0 || (text[mark - 1] != '#' && (text[mark - 1] != '.' || mark != word))) return std::nullopt;
  while (at < text.size() && is_blank(text[at])) ++at;
  if (at >= text.size() || (text[at] != '"' && text[at] != '<')) return std::nullopt;
  const std::size_t end = text.find_first_of(text[at] == '"' ? "\"\n" : ">\n", at + 1);
  if (end == std::string_view::npos || text[end] == '\n') return std::nullopt;
  return std::string(text.substr(at + 1, end - at - 1));
}

std::string first_bytes(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text(most_bytes, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  return text;
}

std::string identity_of(const fs::path& path) {
  std::error_code fault;
  const fs::path result = fs::weakly_canonical(path, fault);
  return fault ? path.string() : result.string();
}

/// Returns the file that `name` includes, among `files`; empty if none.
std::string resolved(const std::string& name, const std::string& including,
                     const std::map<std::string, std::vector<std::string>>& files,
                     const std::vector<std::string>& directories) {
  const auto known = [&](const fs::path& path) {
    std::string identity = identity_of(path);
    return files.contains(identity) ? identity : std::string();
  };
  std::string found = known(fs::path(including).parent_path() / name);
  for (const std::string& directory : directories) {
    if (found.empty()) found = known(fs::path(directory) / name);
  }
  return found;
}

}  // namespace

std::vector<std::string> included_names(std::string_view text) {
  constexpr std::string_view word = "include";
  std::vector<std::string> names;
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + word.size())) {
    if (auto name = name_after_word(text, at, at + word.size())) names.push_back(std::move(*name));
  }
  return names;
}

void include_graph::read_folder(const std::string& folder, bool with_subfolders) {
  if (!read_.insert(folder).second) return;
  std::error_code fault;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, fault);
  std::size_t entries = 0;
  for (const fs::recursive_directory_iterator end; !fault && entry != end; entry.increment(fault)) {
    if (++entries > most_entries || names_.size() >= most_files) break;
    std::error_code ignored;
    if (entry->is_directory(ignored)) {
      const bool is_hidden = entry->path().filename().string().starts_with('.');
      if (is_hidden || !with_subfolders) entry.disable_recursion_pending();
    } else if (entry->path().extension() == ".dl" && entry->is_regular_file(ignored)) {
      names_[identity_of(entry->path())] = included_names(first_bytes(entry->path()));
    }
  }
}

std::vector<std::string> include_graph::roots_of(const std::string& identity, const open_texts& texts,
                                                 const workspace_settings& settings) const {
  std::map<std::string, std::vector<std::string>> files = names_;
  for (const auto& [open, text] : texts) files[open] = included_names(text);
  files.try_emplace(identity);
  const std::vector<std::string> directories = parse_options_of(settings).include_directories;
  std::map<std::string, std::vector<std::string>> includers;
  for (const auto& [file, names] : files) {
    for (const std::string& name : names) {
      const std::string included = resolved(name, file, files, directories);
      if (!included.empty() && included != file) includers[included].push_back(file);
    }
  }
  std::set<std::string> reached = {identity}, roots;
  std::vector<std::string> waiting = {identity};
  while (!waiting.empty()) {
    const std::string file = waiting.back();
    waiting.pop_back();
    const auto found = includers.find(file);
    if (found == includers.end()) {
      roots.insert(file);
      continue;
    }
    for (const std::string& includer : found->second) {
      if (reached.insert(includer).second) waiting.push_back(includer);
    }
  }
  // A configured main file may be included, too.
  std::vector<std::string> result;
  for (const std::string& main : settings.main_files) {
    if (reached.contains(main)) result.push_back(main);
  }
  if (!result.empty()) return result;
  if (roots.empty()) return {identity};
  return {roots.begin(), roots.end()};
}

}  // namespace gpulog::lsp
