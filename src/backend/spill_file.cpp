#include "backend/spill_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "support/file_size_signal.hpp"

namespace gpulog::backend {
namespace {

constexpr std::uint64_t file_page_bytes = 4096;
// The offset 0 is unused: block_pool returns nullptr for "none". Common file systems allow files of this size.
constexpr std::uint64_t first_offset = file_page_bytes;
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 43;

std::uint64_t whole_pages(std::uint64_t bytes) {
  return (bytes + file_page_bytes - 1) / file_page_bytes * file_page_bytes;
}

std::uint64_t number_of(const void* offset) { return reinterpret_cast<std::uintptr_t>(offset); }

/// @return -1: errno has the reason
int open_without_name(const std::string& directory) {
  const int file = open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return file;
  std::string name = directory + "/gpulog-spill-XXXXXX";
  const int named = mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) unlink(name.c_str());
  return named;
}

}  // namespace

spill_file::spill_file(std::string directory) : directory_(std::move(directory)), file_(open_without_name(directory_)) {
  if (file_ < 0) throw std::system_error(errno, std::generic_category());
  if (!reserve(first_offset, file_page_bytes)) {
    const int reason = errno;
    close(file_);
    throw std::system_error(reason, std::generic_category());
  }
  release({reinterpret_cast<void*>(first_offset), file_page_bytes});
  free_.add_slab(reinterpret_cast<void*>(first_offset), most_bytes);
}

spill_file::~spill_file() { close(file_); }

bool spill_file::reserve(std::uint64_t offset, std::uint64_t bytes) {
  const file_size_signal_block block;
  int result = 0;
  do {
    result = fallocate(file_, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

/// Returns the space to the disk.
void spill_file::release(const extent& one) noexcept {
  fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(number_of(one.offset)),
            static_cast<off_t>(one.bytes));
}

void* spill_file::map(std::uint64_t bytes) {
  extent one{nullptr, whole_pages(bytes)};
  {
    const std::lock_guard<std::mutex> alone(access_);
    one.offset = free_.allocate(one.bytes);
  }
  if (one.offset == nullptr) return nullptr;
  const std::uint64_t offset = number_of(one.offset);
  void* memory = MAP_FAILED;
  if (reserve(offset, one.bytes)) {
    memory = mmap(nullptr, static_cast<std::size_t>(one.bytes), PROT_READ | PROT_WRITE, MAP_SHARED, file_,
                  static_cast<off_t>(offset));
  } else {
    was_full_ = true;
  }
  const std::lock_guard<std::mutex> alone(access_);
  if (memory == MAP_FAILED) {
    release(one);
    free_.deallocate(one.offset, one.bytes);
    return nullptr;
  }
  extents_.emplace(memory, one);
  used_ += one.bytes;
  if (used() > peak()) peak_ = used();
  return memory;
}

bool spill_file::unmap(void* memory) noexcept {
  extent one{};
  {
    const std::lock_guard<std::mutex> alone(access_);
    const auto found = extents_.find(memory);
    if (found == extents_.end()) return false;
    one = found->second;
    extents_.erase(found);
  }
  munmap(memory, static_cast<std::size_t>(one.bytes));
  // Other threads may use the extent only after release(): a later release would delete their rows.
  release(one);
  const std::lock_guard<std::mutex> alone(access_);
  free_.deallocate(one.offset, one.bytes);
  used_ -= one.bytes;
  return true;
}

bool spill_file::contains(const void* memory) const {
  const std::lock_guard<std::mutex> alone(access_);
  return extents_.find(memory) != extents_.end();
}

}  // namespace gpulog::backend
