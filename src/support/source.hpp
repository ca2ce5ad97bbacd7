#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpulog {

class source_file;

/// A half-open byte range of a file. Cheap to copy; valid during the lifetime of the source_manager that owns the file.
struct source_span {
  const source_file* file = nullptr;  ///< nullptr: no place
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  [[nodiscard]] bool valid() const { return file != nullptr; }
  friend bool operator==(const source_span&, const source_span&) = default;
};

/// A place for messages: in the file as named, or as set by an earlier `#line` directive.
struct source_position {
  std::string_view path;     ///< valid during the lifetime of the file
  std::uint32_t line = 0;    ///< 1-based
  std::uint32_t column = 0;  ///< 1-based, in bytes
};

/// A text with a name. Immutable, except that the lexer adds line directives.
class source_file {
 public:
  source_file(std::string path, std::string text, source_span included_from);
  source_file(const source_file&) = delete;
  source_file& operator=(const source_file&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  /// The absolute path of a file that was read; the name of a text that was given.
  [[nodiscard]] const std::string& full_path() const { return full_path_.empty() ? path_ : full_path_; }
  void set_full_path(std::string path) { full_path_ = std::move(path); }
  [[nodiscard]] std::string_view text() const { return text_; }
  /// Returns the directive that included this file; invalid for the main file.
  [[nodiscard]] source_span included_from() const { return included_from_; }

  [[nodiscard]] source_position position(std::uint32_t offset) const;
  /// Returns the line with the byte at `offset`, without the line end.
  [[nodiscard]] std::string_view line_text(std::uint32_t offset) const;
  /// Returns a 1-based line number that ignores line directives.
  [[nodiscard]] std::uint32_t physical_line(std::uint32_t offset) const;
  [[nodiscard]] std::uint32_t line_count() const { return static_cast<std::uint32_t>(line_starts_.size()); }

  /// Renumbers the lines after `offset`: the next line becomes line `line` of `path` (an empty path keeps the current
  /// path). Directives must be added in order of their offsets.
  void add_line_directive(std::uint32_t offset, std::uint32_t line, std::string path);

 private:
  struct line_directive {
    std::uint32_t physical_line;  ///< first renumbered line
    std::uint32_t line;
    std::string path;
  };
  std::string path_;
  std::string full_path_;
  std::string text_;
  source_span included_from_;
  std::vector<std::uint32_t> line_starts_;
  /// Pointers, so that views of the paths stay valid.
  std::vector<std::unique_ptr<line_directive>> line_directives_;
};

/// The stored content of a file from an earlier compilation.
struct stored_source {
  std::string identity;  ///< identifies the file across different paths
  std::string text;
};

/// Owns the texts of a compilation. Addresses of files are stable.
class source_manager {
 public:
  /// Reads files from disk.
  source_manager() = default;
  /// Reads only from `stored`.
  /// @param stored by path
  explicit source_manager(std::map<std::string, stored_source> stored) : stored_(std::move(stored)) {}

  /// Reads `text` instead of the file on disk. The text must outlive all calls of load().
  /// @param identity of the file, as identity() returns it
  void replace_file(std::string identity, std::string_view text) {
    replaced_.insert_or_assign(std::move(identity), text);
  }

  /// @throws user_error if the text is longer than spans can express (4 GiB)
  source_file& add(std::string path, std::string text, source_span included_from = {});
  /// @throws user_error if the file cannot be read: "Cannot open file <path>"
  source_file& load(const std::string& path, source_span included_from = {});

  /// Returns whether the file exists, readable or not.
  [[nodiscard]] bool has_file(const std::string& path) const;
  /// Returns a key that is equal for different paths to the same file.
  [[nodiscard]] std::string identity(const std::string& path) const;

  [[nodiscard]] const std::vector<std::unique_ptr<source_file>>& files() const { return files_; }

  /// Records a file that exists but was not read.
  void pass_over(std::string path) { passed_over_.push_back(std::move(path)); }
  [[nodiscard]] const std::vector<std::string>& passed_over() const { return passed_over_; }

 private:
  std::vector<std::unique_ptr<source_file>> files_;
  std::vector<std::string> passed_over_;
  std::map<std::string, std::string_view> replaced_;            ///< by identity
  std::optional<std::map<std::string, stored_source>> stored_;  ///< nothing: reads from disk
};

/// Returns the last component of a path.
[[nodiscard]] std::string_view base_name(std::string_view path);

/// Returns "file.dl [4:1-4:16]" for messages about running rules; empty for an invalid span.
[[nodiscard]] std::string to_string(const source_span& span);

/// Returns the span from the start of `first` to the end of `last`, or `first` if the files differ.
[[nodiscard]] source_span join(const source_span& first, const source_span& last);

/// Returns whether `left` precedes `right` in a report: by path, then start, then end; invalid spans come first.
[[nodiscard]] bool comes_before(const source_span& left, const source_span& right);

}  // namespace gpulog
