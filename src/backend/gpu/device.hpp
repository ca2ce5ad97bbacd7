#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/block_pool.hpp"
#include "backend/gpu/vendor.hpp"
#include "backend/memory_resource.hpp"

namespace gpulog::backend::gpu {

class staging_ring;

/// Returns the reason why the device is not available here, or an empty text.
[[nodiscard]] std::string why_not_available(int device);
/// Starts the device for this process, which takes a few tenths of a second.
/// @return like why_not_available()
[[nodiscard]] std::string start_device(int device);

/// The report that a kernel writes into pinned host memory when it ends, so that the host reads it without a copy.
struct kernel_report {
  std::uint64_t rows;        ///< rows appended by the kernel, in total
  std::uint64_t candidates;  ///< number of candidates
  std::uint64_t refused;     ///< 1 if the output had too little space and the kernel did no work
  std::uint64_t fault;       ///< 1 after an arithmetic fault in this kernel or an earlier kernel
  std::uint64_t number;      ///< number of the report; written last
};

/// A device and the stream that orders all work of a program.
class device_context {
 public:
  /// @throws device_error
  explicit device_context(int device);
  ~device_context();
  device_context(const device_context&) = delete;
  device_context& operator=(const device_context&) = delete;

  /// Makes the device current for the calling thread.
  void use() const;
  [[nodiscard]] stream_handle stream() const { return stream_; }
  [[nodiscard]] const device_properties& properties() const { return properties_; }
  [[nodiscard]] unsigned multiprocessors() const { return properties_.multiprocessors; }
  /// Returns the shared memory that a block can request.
  [[nodiscard]] std::uint64_t shared_bytes_per_block() const { return properties_.shared_bytes_per_block; }
  /// Returns the total device memory, used or not.
  [[nodiscard]] std::uint64_t memory_bytes() const { return properties_.memory_bytes; }
  /// Returns the number of blocks that run at the same time if only the threads per block limit them.
  [[nodiscard]] unsigned full_blocks(unsigned threads_of_a_block) const {
    const unsigned a_multiprocessor = properties_.threads_per_multiprocessor / threads_of_a_block;
    return properties_.multiprocessors * (a_multiprocessor == 0 ? 1 : a_multiprocessor);
  }
  void synchronize() const;
  /// Returns the pinned buffers for large copies, allocated on first use.
  [[nodiscard]] staging_ring& staging() const;
  /// Copies to the host and waits. Small copies use pinned memory, because a copy to pageable memory costs two round
  /// trips.
  void read(const void* from, void* to, std::uint64_t bytes) const;
  /// Returns a counter from device memory after all work queued so far.
  [[nodiscard]] std::uint64_t read_counter(const std::uint64_t* counter) const { return read_pair(counter, 1).first; }
  /// Returns two adjacent counters.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> read_pair(const std::uint64_t* counters, unsigned n = 2) const;

  /// Maximum number of reports in flight; a later report overwrites the oldest.
  static constexpr std::uint64_t most_reports = 256;
  /// Returns the number for the next report.
  [[nodiscard]] std::uint64_t next_report() { return ++report_number_; }
  /// Returns where a kernel writes report `number`.
  [[nodiscard]] kernel_report* report(std::uint64_t number) const { return reports_ + number % most_reports; }
  /// Waits for a report by polling: about 5 us faster than a copy and a synchronization.
  [[nodiscard]] kernel_report wait_for_report(std::uint64_t number) const;
  /// Waits until a kernel has written `value` to pinned memory.
  /// @throws device_error if a kernel failed
  void wait_for_value(std::uint64_t& written, std::uint64_t value) const;

 private:
  int device_;
  stream_handle stream_ = nullptr;
  mutable std::unique_ptr<staging_ring> staging_;
  kernel_report* reports_ = nullptr;  // pinned
  std::uint64_t report_number_ = 0;
  std::byte* staged_ = nullptr;  // pinned buffer for small reads
  device_properties properties_;
};

/// Device memory from a pool of plain allocations, reused in stream order. The first slab is allocated at the start and
/// more slabs on demand, so that most allocations need no driver call.
///
/// If GPULOG_PLAIN_DEVICE_ALLOCATIONS is set, or on a device for tests, every array is a separate allocation, so that
/// compute-sanitizer sees its bounds.
class device_memory final : public memory_resource {
 public:
  /// @param limit in bytes; 0: no limit
  /// @throws device_error
  device_memory(const device_context& context, std::uint64_t limit);
  ~device_memory() override;
  void discard(void*, std::uint64_t) noexcept override {}
  void prepare(std::uint64_t allocations, std::uint64_t bytes) override;

 protected:
  void* do_allocate(std::uint64_t bytes, fresh_memory contents) override;
  void do_deallocate(void* memory, std::uint64_t bytes) noexcept override;
  void* do_resize(void* memory, std::uint64_t old_bytes, std::uint64_t new_bytes) override;

 private:
  bool add_slab(std::uint64_t bytes);
  void* take(std::uint64_t bytes);

  const device_context* context_;
  block_pool pool_;
  std::vector<void*> slabs_;
  std::uint64_t slab_bytes_ = 0;
  bool plain_ = false;
};

}  // namespace gpulog::backend::gpu
