#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/source.hpp"

namespace gpulog::lsp {

/// Figures of a relation at the end of a run.
struct relation_figures {
  std::uint64_t tuples = 0;
  std::uint64_t bytes = 0;
};

/// Figures of a clause, for all versions of its rules.
struct clause_figures {
  double seconds = 0;
  std::uint64_t tuples = 0;      ///< new tuples
  std::uint64_t duplicates = 0;  ///< candidates that were no new tuples
};

/// The figures in the record of a run (docs/record.md). A clause is found by its text, so that edits of further clauses
/// change nothing, and an edited clause has no figures.
class run_figures {
 public:
  /// Parses the text of a record.
  /// @return nullptr if the text is no record of this version
  [[nodiscard]] static std::unique_ptr<run_figures> parse(const std::string& text);

  /// Returns the last component of the path of the program.
  [[nodiscard]] const std::string& program() const { return program_; }
  [[nodiscard]] std::optional<relation_figures> relation(const std::string& name) const;
  [[nodiscard]] std::optional<clause_figures> clause(const source_span& span) const;

 private:
  std::string program_;
  std::map<std::string, relation_figures> relations_;
  /// By name of the file and text of the clause.
  std::map<std::pair<std::string, std::string>, clause_figures> clauses_;
};

/// Finds records on disk, and keeps the figures of each file until the file changes.
class record_finder {
 public:
  /// Returns the figures of the newest record of a program among the `*.json` files of the folders.
  /// @return nullptr if no file is a record of the program
  /// @param program the last component of the path of the main file
  [[nodiscard]] const run_figures* newest(const std::vector<std::string>& folders, const std::string& program);
  /// Returns the figures in this file; nullptr if the file is no record.
  [[nodiscard]] const run_figures* read(const std::string& file);

 private:
  struct kept_record {
    std::filesystem::file_time_type time;
    std::unique_ptr<run_figures> figures;
  };
  std::map<std::string, kept_record> records_;
};

}  // namespace gpulog::lsp
