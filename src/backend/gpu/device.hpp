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

/// Why the device can't be used here; empty when it can.
[[nodiscard]] std::string why_not_available(int device);
/// Starts the device for this process, which takes a few tenths of a second. @return as why_not_available()
[[nodiscard]] std::string start_device(int device);

/// What a kernel reports when it ends: into pinned host memory, so that the host sees it without a copy.
struct kernel_report {
  std::uint64_t rows;        ///< of what the kernel appended to, all together
  std::uint64_t candidates;  ///< there were
  std::uint64_t refused;     ///< 1: there was not enough room, and nothing was done
  std::uint64_t fault;       ///< 1: an arithmetic fault, in this kernel or one before
  std::uint64_t number;      ///< of the report; written last
};

/// A device and the stream that all of a program's work is ordered on.
class device_context {
 public:
  /// @throws device_error
  explicit device_context(int device);
  ~device_context();
  device_context(const device_context&) = delete;
  device_context& operator=(const device_context&) = delete;

  /// Makes the device the calling thread's.
  void use() const;
  [[nodiscard]] stream_handle stream() const { return stream_; }
  [[nodiscard]] const device_properties& properties() const { return properties_; }
  [[nodiscard]] unsigned multiprocessors() const { return properties_.multiprocessors; }
  /// Shared memory that a block can ask for.
  [[nodiscard]] std::uint64_t shared_bytes_per_block() const { return properties_.shared_bytes_per_block; }
  /// Of the device, used or not.
  [[nodiscard]] std::uint64_t memory_bytes() const { return properties_.memory_bytes; }
  /// Blocks that run at a time where nothing but their threads limits them.
  [[nodiscard]] unsigned full_blocks(unsigned threads_of_a_block) const {
    const unsigned a_multiprocessor = properties_.threads_per_multiprocessor / threads_of_a_block;
    return properties_.multiprocessors * (a_multiprocessor == 0 ? 1 : a_multiprocessor);
  }
  void synchronize() const;
  /// Pinned buffers for large copies, made when they are first asked for.
  [[nodiscard]] staging_ring& staging() const;
  /// Copies to the host, and waits. Few bytes go through pinned memory, as a copy to other memory costs twice the round
  /// trip.
  void read(const void* from, void* to, std::uint64_t bytes) const;
  /// The value of a counter in device memory, once all work so far is done.
  [[nodiscard]] std::uint64_t read_counter(const std::uint64_t* counter) const { return read_pair(counter, 1).first; }
  /// Two that stand side by side.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> read_pair(const std::uint64_t* counters, unsigned n = 2) const;

  /// Reports that can be under way: the one behind takes the place of the first.
  static constexpr std::uint64_t most_reports = 256;
  /// The number that the next report has to carry.
  [[nodiscard]] std::uint64_t next_report() { return ++report_number_; }
  /// Where a kernel writes the report of that number.
  [[nodiscard]] kernel_report* report(std::uint64_t number) const { return reports_ + number % most_reports; }
  /// Waits for a report. Polled: about 5 us less than a copy and a synchronisation.
  [[nodiscard]] kernel_report wait_for_report(std::uint64_t number) const;
  /// Waits until a kernel has written that value to pinned memory. @throws device_error when one failed
  void wait_for_value(std::uint64_t& written, std::uint64_t value) const;

 private:
  int device_;
  stream_handle stream_ = nullptr;
  mutable std::unique_ptr<staging_ring> staging_;
  kernel_report* reports_ = nullptr;  // pinned
  std::uint64_t report_number_ = 0;
  std::byte* staged_ = nullptr;  // pinned: what is read
  device_properties properties_;
};

/// Device memory from one pool of plain allocations, reused in the order of the stream. The first slab is taken at the
/// start, more when it is used up: an allocation costs no call of the driver then.
///
/// With GPULOG_PLAIN_DEVICE_ALLOCATIONS in the environment every array gets an allocation of its own, so that
/// compute-sanitizer sees its bounds; on a device for tests it always does.
class device_memory final : public memory_resource {
 public:
  /// @param limit bytes, 0: none. @throws device_error
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
