#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "backend/array.hpp"
#include "backend/gpu/device.hpp"
#include "backend/gpu/vendor.hpp"
#include "exec/gpu/parameter_store.hpp"

namespace gpulog::exec {

/// Arrays that a kernel modifies: built on the host one after another, uploaded in one copy, and downloaded from the
/// start.
class device_arena final : public array_store {
 public:
  device_arena(const backend::gpu::device_context& context, backend::memory_resource& resource)
      : context_(&context), device_(resource) {}

  void clear() { host_.clear(); }
  /// Returns the host copy of an array.
  template <class T>
  [[nodiscard]] T* on_host(const T* on_device) {
    return reinterpret_cast<T*>(host_.data() + (reinterpret_cast<std::uintptr_t>(on_device) - device_begin()));
  }
  [[nodiscard]] std::uint64_t bytes() const { return host_.size(); }
  /// @return whether the device buffer was large enough; if not, the buffer has been enlarged and all arrays must be
  ///   put again
  [[nodiscard]] bool upload() {
    if (host_.size() > device_.size()) {
      const std::uint64_t needed = host_.size() + host_.size() / 2;
      device_.release();
      device_ = backend::array<std::uint8_t>(device_.resource(), needed, backend::fresh_memory::anything);
      return false;
    }
    backend::gpu::copy_async(device_.data(), host_.data(), host_.size(), backend::gpu::direction::host_to_device,
                             context_->stream());
    return true;
  }
  /// Reads back the first arrays, as kernels left them.
  void download(std::uint64_t bytes) { context_->read(device_.data(), host_.data(), bytes); }

 private:
  const std::uint8_t* put_bytes(const void* values, std::uint64_t bytes) override {
    constexpr std::uint64_t alignment = 16;
    const std::uint64_t place = (host_.size() + alignment - 1) / alignment * alignment;
    host_.resize(place + bytes);
    std::memcpy(host_.data() + place, values, bytes);
    return reinterpret_cast<const std::uint8_t*>(device_begin() + place);
  }
  /// An integer: before the first upload() no array exists, and offsets count from 0.
  [[nodiscard]] std::uintptr_t device_begin() const { return reinterpret_cast<std::uintptr_t>(device_.data()); }

  const backend::gpu::device_context* context_;
  backend::array<std::uint8_t> device_;
  std::vector<std::uint8_t> host_;
};

}  // namespace gpulog::exec
