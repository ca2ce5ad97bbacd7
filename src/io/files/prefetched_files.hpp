#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "io/files/byte_source.hpp"

namespace gpulog::io {

/// Compressed files in the order of their readers. Threads decompress the files ahead, as decompressing a file is
/// slower than parsing with several threads. Uncompressed and unreadable files are skipped.
class prefetched_files {
 public:
  /// @param files in the order of reading
  /// @param most_bytes limit of waiting bytes of all files, plus one piece of each
  prefetched_files(std::vector<std::filesystem::path> files, unsigned threads, std::uint64_t most_bytes);
  prefetched_files(const prefetched_files&) = delete;
  prefetched_files& operator=(const prefetched_files&) = delete;
  ~prefetched_files();

  /// Returns the decompressed bytes of the next file with this name, and drops all files before it; nullptr: no such
  /// compressed file. The caller reads the source before the next take(), and during the lifetime of this object.
  [[nodiscard]] std::unique_ptr<byte_source> take(const std::filesystem::path& file);
  /// Returns the number of files that were started here or taken.
  [[nodiscard]] std::size_t begun();

 private:
  struct upcoming {
    std::filesystem::path path;
    std::deque<std::string> pieces;
    bool is_plain = false;
    bool is_finished = false;
    std::string failure;  ///< the reader's error at the end; empty: none
  };
  class taken_source;

  void work();
  void decompress(std::size_t number);
  /// Waits for space, and adds a piece.
  /// @return whether the file is still needed
  bool add(std::size_t number, std::string piece);
  void give_up_until(std::size_t number);

  std::uint64_t most_bytes_;
  std::mutex access_;
  std::condition_variable changed_;
  std::vector<upcoming> files_;
  std::size_t next_ = 0;       // first file that no thread has started
  std::size_t reading_ = 0;    // the file that is being read, or the next file to read
  std::uint64_t waiting_ = 0;  // in bytes
  bool is_abandoned_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace gpulog::io
