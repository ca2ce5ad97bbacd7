#pragma once

#include <cstdint>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "backend/array.hpp"
#include "backend/gpu/device.hpp"

namespace gpulog::exec {

/// A pending copy of an array to the device.
struct copied_array {
  std::uint8_t* to;
  const std::uint8_t* from;  ///< pinned
  std::uint64_t words;       ///< 64-bit words
};

/// Interface for placing arrays in device memory.
class array_store {
 public:
  array_store() = default;
  array_store(const array_store&) = delete;
  array_store& operator=(const array_store&) = delete;
  virtual ~array_store() = default;

  /// @return the array's address in device memory once copied; nullptr for an empty array
  template <class T>
  const T* put(const std::vector<T>& values) {
    if (values.empty()) return nullptr;
    return reinterpret_cast<const T*>(put_bytes(values.data(), values.size() * sizeof(T)));
  }

 private:
  virtual const std::uint8_t* put_bytes(const void* values, std::uint64_t bytes) = 0;
};

/// Small arrays for kernels (steps, bindings, views of runs), kept in device memory between runs. A pipeline puts its
/// arrays in the same order every time, so unchanged arrays, the majority, need no copy. flush() copies all changed
/// arrays with one kernel.
class parameter_store final : public array_store {
 public:
  parameter_store(const backend::gpu::device_context& context, backend::memory_resource& resource);
  ~parameter_store() override;

  /// Starts over with the first array of `owner` (a pipeline).
  void start(const void* owner) {
    slots_ = &owners_[owner];
    next_ = 0;
  }
  /// Returns the position of the next array, for go_back(). Arrays may be replaced while kernels still read the old
  /// contents, because copies wait for earlier kernels.
  [[nodiscard]] std::size_t position() const { return next_; }
  void go_back(std::size_t position) { next_ = position; }

  /// Puts an array and copies all pending arrays.
  template <class T>
  const T* put_now(const std::vector<T>& values) {
    const T* const memory = put(values);
    flush();
    return memory;
  }
  /// Copies all pending arrays; launch kernels that read an array only after this call.
  void flush();

 private:
  struct slot {
    std::vector<std::uint8_t> contents;
    std::uint64_t flushed_with = UINT64_MAX;  // number of the flush that copies this array
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
  std::uint8_t* staging_ = nullptr;  // pinned; may be in use by copies until the stream is synchronized
  std::uint64_t staging_used_ = 0;
};

}  // namespace gpulog::exec
