#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

#include "backend/block_pool.hpp"

namespace gpulog::backend {

/// A file without a name from which arrays are mapped when memory is short. The system writes pages to the disk, and
/// reads pages that a program uses. The file disappears with the process, also after a crash. Thread-safe.
class spill_file {
 public:
  /// @param directory existing folder
  /// @throws std::system_error if the folder permits no file, or its file system cannot reserve space
  explicit spill_file(std::string directory);
  spill_file(const spill_file&) = delete;
  spill_file& operator=(const spill_file&) = delete;
  ~spill_file();

  /// Reserves space on the disk and maps the space: no later access can fail.
  /// @return zeroed memory, aligned to pages; nullptr if the disk has no space
  [[nodiscard]] void* map(std::uint64_t bytes);
  /// @return whether the memory was mapped from the file
  bool unmap(void* memory) noexcept;
  [[nodiscard]] bool contains(const void* memory) const;

  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] std::uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t peak() const { return peak_.load(std::memory_order_relaxed); }
  /// Whether map() has found the disk full.
  [[nodiscard]] bool was_full() const { return was_full_.load(std::memory_order_relaxed); }

 private:
  struct extent {
    void* offset;  ///< in the file, as block_pool counts it
    std::uint64_t bytes;
  };

  [[nodiscard]] bool reserve(std::uint64_t offset, std::uint64_t bytes);
  void release(const extent& one) noexcept;

  std::string directory_;
  int file_ = -1;
  mutable std::mutex access_;
  block_pool free_;  // offsets
  std::unordered_map<const void*, extent> extents_;
  std::atomic<std::uint64_t> used_{0};
  std::atomic<std::uint64_t> peak_{0};
  std::atomic<bool> was_full_{false};
};

}  // namespace gpulog::backend
