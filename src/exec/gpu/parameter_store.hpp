#pragma once

#include <cstdint>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "backend/array.hpp"
#include "backend/gpu/device.hpp"

namespace gpulog::exec {

/// An array on its way to the device.
struct copied_array {
  std::uint8_t* to;
  const std::uint8_t* from;  ///< pinned
  std::uint64_t words;       ///< of 64 bits
};

/// Where arrays for kernels are put.
class array_store {
 public:
  array_store() = default;
  array_store(const array_store&) = delete;
  array_store& operator=(const array_store&) = delete;
  virtual ~array_store() = default;

  /// @return where the array will be in device memory, once copied; nullptr for an empty one
  template <class T>
  const T* put(const std::vector<T>& values) {
    if (values.empty()) return nullptr;
    return reinterpret_cast<const T*>(put_bytes(values.data(), values.size() * sizeof(T)));
  }

 private:
  virtual const std::uint8_t* put_bytes(const void* values, std::uint64_t bytes) = 0;
};

/// Small arrays for kernels (steps, bindings, views of runs), kept in device memory from run to run. A pipeline puts
/// them in the same order every time, and what has not changed since is not copied again: most of it never changes.
/// What has changed is copied by one kernel, at flush().
class parameter_store final : public array_store {
 public:
  parameter_store(const backend::gpu::device_context& context, backend::memory_resource& resource);
  ~parameter_store() override;

  /// The arrays of this owner (a pipeline) follow, from its first one.
  void start(const void* owner) {
    slots_ = &owners_[owner];
    next_ = 0;
  }
  /// Where the next array goes, for go_back(). Arrays may be put there again while kernels still read the old ones, as
  /// copies wait for these kernels.
  [[nodiscard]] std::size_t position() const { return next_; }
  void go_back(std::size_t position) { next_ = position; }

  /// The same, copied with all that was put before.
  template <class T>
  const T* put_now(const std::vector<T>& values) {
    const T* const memory = put(values);
    flush();
    return memory;
  }
  /// Copies what was put; every launch of a kernel that reads it has to come behind.
  void flush();

 private:
  struct slot {
    std::vector<std::uint8_t> contents;
    std::uint64_t flushed_with = UINT64_MAX;  // number of the flush that copies it
    std::uint8_t* memory = nullptr;
    std::uint64_t capacity = 0;
  };

  const std::uint8_t* put_bytes(const void* values, std::uint64_t bytes) override;
  std::uint8_t* take(std::uint64_t bytes);
  std::uint8_t* stage(std::uint64_t bytes);

  const backend::gpu::device_context* context_;
  backend::memory_resource* resource_;
  std::unordered_map<const void*, std::vector<slot>> owners_;
  std::vector<slot>* slots_ = nullptr;
  std::size_t next_ = 0;
  std::vector<backend::array<std::uint8_t>> chunks_;
  std::uint64_t chunk_used_ = 0;
  std::vector<copied_array> changed_;
  std::uint64_t flushes_ = 0;
  std::uint8_t* staging_ = nullptr;  // pinned; copies from it are under way until the stream is synchronised
  std::uint64_t staging_used_ = 0;
};

}  // namespace gpulog::exec
