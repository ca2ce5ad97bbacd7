#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lsp/protocol/text_index.hpp"
#include "lsp/record/run_figures.hpp"
#include "lsp/workspace/compiled_program.hpp"
#include "lsp/workspace/include_graph.hpp"
#include "lsp/workspace/settings.hpp"

namespace gpulog::lsp {

/// A text that an editor holds.
struct document {
  std::string uri;
  std::string identity;  ///< of its file
  std::string text;
  std::int64_t version = 0;
  std::vector<std::string> includes;  ///< included_names() of the text
};

/// The open documents and the programs that they belong to.
class workspace {
 public:
  /// Programs are read again with the new settings.
  void configure(workspace_settings settings);
  [[nodiscard]] const workspace_settings& settings() const { return settings_; }

  void open(const std::string& uri, std::string text, std::int64_t version);
  /// Replaces the text between two positions.
  void replace(document& changed, const text_position& begin, const text_position& end, std::string_view text);
  void set_text(document& changed, std::string text);
  void close(const std::string& uri);
  /// Files on disk changed.
  void forget_files();

  /// Returns nullptr for a document that is not open.
  [[nodiscard]] document* find(const std::string& uri);
  [[nodiscard]] const document* find_identity(const std::string& identity) const;
  /// Returns the URI of a file, as the editor names the file if it is open.
  [[nodiscard]] std::string uri_of_file(const source_file& file) const;

  /// Returns the texts of the open documents.
  [[nodiscard]] open_texts texts() const;

  /// Returns the program that a document belongs to.
  [[nodiscard]] const compiled_program& program_of(const document& source);
  /// Returns the program with this main file.
  const compiled_program& program(const std::string& main_file);
  /// Returns all programs of the workspace that read a file, by the identity of their main files.
  [[nodiscard]] std::map<std::string, const compiled_program*> programs_with(const std::string& identity);
  /// Returns the programs of all open documents, by the identity of their main files.
  [[nodiscard]] std::map<std::string, const compiled_program*> programs();

  /// Returns the figures of the newest run of a program; nullptr if none.
  [[nodiscard]] const run_figures* figures_of(const compiled_program& program);

  /// Returns whether a program is outdated, for example after a change.
  [[nodiscard]] bool is_outdated() const { return is_outdated_; }
  void outdate_diagnostics() { is_outdated_ = true; }

 private:
  void outdate(const std::string& identity);
  void outdate_all();
  [[nodiscard]] std::vector<std::string> roots_of(const std::string& identity);
  /// Returns the main file of the program that a document belongs to.
  const std::string& main_of(const document& source);

  workspace_settings settings_;
  std::map<std::string, document> documents_;  ///< by identity
  include_graph includes_;
  std::map<std::string, std::unique_ptr<compiled_program>> programs_;  ///< by main file
  std::map<std::string, std::string> mains_;                           ///< by document
  record_finder records_;
  bool is_outdated_ = false;
};

}  // namespace gpulog::lsp
