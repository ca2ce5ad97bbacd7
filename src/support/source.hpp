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

/// A half-open range of bytes of one file. Cheap to copy; usable as long as the source_manager that owns the file.
struct source_span {
  const source_file* file = nullptr;  ///< nullptr: no place
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  [[nodiscard]] bool valid() const { return file != nullptr; }
  friend bool operator==(const source_span&, const source_span&) = default;
};

/// A place for people: as the file was named, or as a `#line` directive before the place says.
struct source_position {
  std::string_view path;     ///< lives as long as the file
  std::uint32_t line = 0;    ///< from 1
  std::uint32_t column = 0;  ///< from 1, in bytes
};

/// One text with its name. Immutable except that a lexer adds the line directives that it meets.
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
  /// The directive that included this file; invalid for the first one.
  [[nodiscard]] source_span included_from() const { return included_from_; }

  [[nodiscard]] source_position position(std::uint32_t offset) const;
  /// The line that holds the byte at `offset`, without its line end.
  [[nodiscard]] std::string_view line_text(std::uint32_t offset) const;
  /// From 1, whatever line directives say.
  [[nodiscard]] std::uint32_t physical_line(std::uint32_t offset) const;
  [[nodiscard]] std::uint32_t line_count() const { return static_cast<std::uint32_t>(line_starts_.size()); }

  /// The line after the one that holds `offset` counts as line `line` of `path` (of the same path when it is empty).
  /// Directives have to come in order of their offsets.
  void add_line_directive(std::uint32_t offset, std::uint32_t line, std::string path);

 private:
  struct line_directive {
    std::uint32_t physical_line;  ///< of the first line that it renumbers
    std::uint32_t line;
    std::string path;
  };
  std::string path_;
  std::string full_path_;
  std::string text_;
  source_span included_from_;
  std::vector<std::uint32_t> line_starts_;
  /// By pointer, so that views of the paths stay valid.
  std::vector<std::unique_ptr<line_directive>> line_directives_;
};

/// A file of a compilation, as it was then.
struct stored_source {
  std::string identity;  ///< of the file: the same for all paths to it
  std::string text;
};

/// Owns the texts of one compilation. Files keep their address.
class source_manager {
 public:
  /// Reads files from the disk.
  source_manager() = default;
  /// There are these files and no others. @param stored by path
  explicit source_manager(std::map<std::string, stored_source> stored) : stored_(std::move(stored)) {}

  /// @throws user_error when the text is longer than spans can express (4 GiB).
  source_file& add(std::string path, std::string text, source_span included_from = {});
  /// @throws user_error when the file cannot be read: "Cannot open file <path>".
  source_file& load(const std::string& path, source_span included_from = {});

  /// Whether there is such a file, which may be unreadable.
  [[nodiscard]] bool has_file(const std::string& path) const;
  /// What tells files apart that paths name in different ways.
  [[nodiscard]] std::string identity(const std::string& path) const;

  [[nodiscard]] const std::vector<std::unique_ptr<source_file>>& files() const { return files_; }

  /// There is such a file, and its text was not needed.
  void pass_over(std::string path) { passed_over_.push_back(std::move(path)); }
  [[nodiscard]] const std::vector<std::string>& passed_over() const { return passed_over_; }

 private:
  std::vector<std::unique_ptr<source_file>> files_;
  std::vector<std::string> passed_over_;
  std::optional<std::map<std::string, stored_source>> stored_;  ///< nothing: the disk's
};

/// The last component of a path.
[[nodiscard]] std::string_view base_name(std::string_view path);

/// "file.dl [4:1-4:16]" as in messages about running rules; empty for an invalid span.
[[nodiscard]] std::string to_string(const source_span& span);

/// From the beginning of the first to the end of the second; the first alone when they lie in different files.
[[nodiscard]] source_span join(const source_span& first, const source_span& last);

/// Whether `left` comes before `right` in a report: by path, then by beginning, then by end; no place before any place.
[[nodiscard]] bool comes_before(const source_span& left, const source_span& right);

}  // namespace gpulog
