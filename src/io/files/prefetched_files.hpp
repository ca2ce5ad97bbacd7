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

/// Compressed files that are going to be read one after the other: threads decompress them ahead, as one thread
/// decompresses more slowly than several parse. Files that are not compressed, or can't be read, are left alone.
class prefetched_files {
 public:
  /// @param files in the order in which they will be read
  /// @param most_bytes that wait to be read, of all files, but for one piece of each
  prefetched_files(std::vector<std::filesystem::path> files, unsigned threads, std::uint64_t most_bytes);
  prefetched_files(const prefetched_files&) = delete;
  prefetched_files& operator=(const prefetched_files&) = delete;
  ~prefetched_files();

  /// The decompressed bytes of the next file of this name; those in front of it are given up. To be read before another
  /// one is taken, and while this object lives. nullptr: there is none that is compressed.
  [[nodiscard]] std::unique_ptr<byte_source> take(const std::filesystem::path& file);
  /// Files that were begun here, or taken before.
  [[nodiscard]] std::size_t begun();

 private:
  struct upcoming {
    std::filesystem::path path;
    std::deque<std::string> pieces;
    bool is_plain = false;
    bool is_finished = false;
    std::string failure;  ///< what the reader gets at the end; empty: none
  };
  class taken_source;

  void work();
  void decompress(std::size_t number);
  /// Waits for room, and hands over the piece. @return whether anybody still wants the file
  bool add(std::size_t number, std::string piece);
  void give_up_until(std::size_t number);

  std::uint64_t most_bytes_;
  std::mutex access_;
  std::condition_variable changed_;
  std::vector<upcoming> files_;
  std::size_t next_ = 0;       // that no thread has begun
  std::size_t reading_ = 0;    // that is read or will be next: those in front of it are done with
  std::uint64_t waiting_ = 0;  // bytes
  bool is_abandoned_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace gpulog::io
