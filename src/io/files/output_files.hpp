#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/file_size_signal.hpp"

namespace gpulog::io {

/// The kinds of files that an output may replace.
enum class replaceable : std::uint8_t {
  what_is_written,  ///< the target of a chain of links; a device or pipe is written in place
  regular_file,     ///< regular files only: no link, no device
};

/// Whether an output with this name does not replace a file: the name belongs to a device, a pipe, or the file of
/// standard output or standard error. A written output can't be removed then, and several outputs may have the name.
[[nodiscard]] bool is_written_in_place(const std::filesystem::path& path);

/// A file that is written under a unique temporary name in the folder of the final name. A device, a pipe, and the file
/// of standard output or standard error are written in place.
class output_file {
 public:
  /// @throws output_error if the file cannot be created
  explicit output_file(const std::filesystem::path& path, replaceable old = replaceable::what_is_written);
  /// Opens a file to write parts of it in place.
  /// @throws output_error if the file cannot be opened
  [[nodiscard]] static output_file existing(const std::filesystem::path& path);
  output_file(output_file&& other) noexcept;
  output_file& operator=(output_file&&) = delete;
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;
  /// Removes the temporary file unless it was renamed.
  ~output_file();

  /// @throws output_error if some bytes could not be written (a full disk, a limit)
  void write(std::string_view bytes);
  /// Writes at a place of the file, from 0; for a file that is not written in place. @throws output_error
  void write_at(std::uint64_t place, std::string_view bytes);
  /// Lets everybody execute the file. @throws output_error
  void make_executable();
  /// Ends writing.
  /// @throws output_error
  void close();
  /// Renames a closed file to its final name. @throws output_error
  void rename();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Returns the path before rename(), for libraries that write files by name.
  [[nodiscard]] const std::filesystem::path& temporary_path() const { return temporary_; }

 private:
  output_file(const std::filesystem::path& path, int descriptor)
      : path_(path), temporary_(path), descriptor_(descriptor) {}

  std::filesystem::path path_;
  std::filesystem::path temporary_;  ///< equal to path_ if written in place
  int descriptor_ = -1;
  /// The slot for remove_unfinished_outputs; -1: nothing to remove.
  std::ptrdiff_t registration_ = -1;
};

/// Writes or replaces a whole file. @throws output_error
void write_file(const std::filesystem::path& path, std::string_view bytes);

/// Finds outputs that can't be written, before the run computes their rows.
class output_check {
 public:
  /// Creates a file in the folder of the path and removes that file, once for each folder.
  /// @throws output_error where no output_file can have this path
  void require_writable(const std::filesystem::path& path);

 private:
  std::set<std::filesystem::path> folders_;  ///< where files can be created
};

/// The files of a run: all are renamed to their final names when the run has succeeded; otherwise all are removed.
class output_files {
 public:
  /// Takes a closed file.
  void add(output_file file);
  /// Takes all files of another object.
  void append(output_files other);
  /// Returns the file that will replace this path; null when there is none. Valid until the next add().
  [[nodiscard]] const output_file* find(const std::filesystem::path& path);
  /// Renames all files to their final names, in the order of add(). @throws output_error
  void commit();

 private:
  /// A name that all paths of a file share.
  [[nodiscard]] std::filesystem::path real_path(const std::filesystem::path& path);

  std::vector<output_file> files_;
  std::map<std::filesystem::path, std::size_t> numbers_;  ///< of files, by real path
  /// By folder, its real path. Programs have hundreds of outputs in one folder.
  std::map<std::filesystem::path, std::filesystem::path> folders_;
};

/// Writes all bytes to a descriptor. @throws output_error with the name in the message
void write_bytes(int descriptor, std::string_view bytes, const std::string& name);

/// Removes the temporary files of the process, which is about to end. Safe in a signal handler and while threads still
/// write.
void remove_unfinished_outputs() noexcept;

}  // namespace gpulog::io
