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

/// A file of named sections of bytes, each with a hash (docs/adr/0077-stored-state.md):
///
///     magic | section | section | ... | directory (JSON) | place, size and hash of the directory | magic
///
/// Sections begin at multiples of 64 bytes, so mapped columns need no copy.
namespace gpulog::detail {

/// A stored state cannot be used; what() is the reason.
class unusable_state : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Writes a state file under a temporary name.
class state_file_writer {
 public:
  /// @throws output_error, like all functions
  explicit state_file_writer(const std::filesystem::path& path);

  /// Adds a section for append(). Several sections may be incomplete at a time.
  /// @return number of the section
  std::size_t reserve(std::string name, std::uint64_t bytes);
  void append(std::size_t section, std::string_view bytes);
  void add(std::string name, std::string_view bytes) { append(reserve(std::move(name), bytes.size()), bytes); }
  /// Writes the directory and renames the file to its final name.
  void commit();

 private:
  struct section {
    std::string name;
    std::uint64_t begin, bytes, written;
    io::content_hasher hash;
  };
  io::output_file file_;
  std::vector<section> sections_;
  std::uint64_t end_;
};

/// A state file, mapped into memory and locked.
class state_file {
 public:
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

 private:
  struct place {
    std::uint64_t begin, bytes;
    std::string hash;
  };
  [[nodiscard]] static io::file_descriptor open(const std::filesystem::path& path);
  void read_directory(const std::filesystem::path& path);
  [[nodiscard]] const place& place_of(const std::string& name) const;

  io::file_descriptor descriptor_;  ///< holds the lock
  std::optional<io::mapped_file> mapped_;
  std::map<std::string, place> sections_;
};

}  // namespace gpulog::detail
