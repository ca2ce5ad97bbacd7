#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "io/files/byte_source.hpp"
#include "io/files/content_hash.hpp"
#include "io/files/output_files.hpp"

/// A file of named sections of bytes, with hashes (docs/adr/0077-stored-state.md):
///
///     magic | commit | commit | section | section | ... | directory (JSON)
///
/// A commit has the place, size and hash of a directory. A change adds sections, bytes after sections that have room,
/// and a directory, and then overwrites the older commit, so that the other commit stays valid until then. Sections
/// begin at multiples of 64 bytes, so mapped columns need no copy.
namespace gpulog::detail {

/// A stored state cannot be used; what() is the reason.
class unusable_state : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class state_file;

/// Writes a state file under a temporary name, or adds to a file.
class state_file_writer {
 public:
  /// @param base the file at the path, which gets further sections and must allow it (state_file::may_grow);
  ///   nullptr: the file is replaced
  /// @throws output_error, like all functions
  state_file_writer(const std::filesystem::path& path, const state_file* base);
  state_file_writer(const state_file_writer&) = delete;
  state_file_writer& operator=(const state_file_writer&) = delete;
  ~state_file_writer();

  /// Adds a section for append(). Several sections may be incomplete at a time.
  /// @return number of the section
  std::size_t reserve(std::string name, std::uint64_t bytes);
  void append(std::size_t section, std::string_view bytes);
  /// Returns whether the base has a section with room for more bytes.
  [[nodiscard]] bool can_extend(const std::string& name, std::uint64_t bytes) const;
  /// Keeps a section of the base, and adds bytes for append().
  /// @return number of the section
  std::size_t extend(const std::string& name, std::uint64_t bytes);
  void add(std::string name, std::string_view bytes) { append(reserve(std::move(name), bytes.size()), bytes); }
  /// Writes the directory, and makes it valid.
  void commit();

 private:
  struct section;
  const state_file* base_;
  io::output_file file_;
  std::vector<section> sections_;
  std::uint64_t end_;
};

/// A state file, mapped into memory and locked.
class state_file {
 public:
  /// Bytes that were written together.
  struct piece {
    std::uint64_t bytes;
    std::string hash;
  };
  struct place {
    std::uint64_t begin, capacity;
    std::vector<piece> pieces = {};
    [[nodiscard]] std::uint64_t bytes() const;
  };

  /// @throws unusable_state for a locked or damaged file, and for another version of the format; input_error for a file
  ///   with other content, which must not be replaced
  explicit state_file(const std::filesystem::path& path);

  /// Returns whether the path has a file with any content.
  [[nodiscard]] static bool exists(const std::filesystem::path& path);
  /// Returns the bytes of a verified section.
  /// @throws unusable_state if the file has no such section
  [[nodiscard]] std::string_view section(const std::string& name) const;
  /// @throws unusable_state unless the bytes of the sections have the stored hashes
  void verify(const std::vector<std::string>& names, unsigned threads) const;
  /// Returns whether this is the file at the path, still locked, and at least half of it is in use.
  [[nodiscard]] bool may_grow(const std::filesystem::path& path) const;

 private:
  friend state_file_writer;
  [[nodiscard]] static io::file_descriptor open(const std::filesystem::path& path);
  void read_directory(const std::filesystem::path& path);
  [[nodiscard]] bool read_commit(std::uint64_t number_below);
  /// Lets other processes use and extend the file, whose mapped sections never change.
  void unlock() const;
  [[nodiscard]] const place& place_of(const std::string& name) const;

  io::file_descriptor descriptor_;  ///< holds the lock
  mutable bool is_locked_ = true;
  std::optional<io::mapped_file> mapped_;
  std::uint64_t commit_ = 0;  ///< number of the commit
  std::uint64_t end_ = 0;
  std::map<std::string, place> sections_;
};

}  // namespace gpulog::detail
