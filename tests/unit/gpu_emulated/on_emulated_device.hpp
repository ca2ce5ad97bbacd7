#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "backend/gpu/launch.hpp"
#include "backend/gpu/vendor.hpp"

/// A stream of the emulated device, and arrays in device memory.
namespace gpulog::backend::gpu {

class on_emulated_device : public testing::Test {
 protected:
  ~on_emulated_device() override {
    for (void* const one : arrays_) deallocate(one);
    destroy(stream);
  }

  template <class T>
  T* array(std::uint64_t count) {
    void* const made = allocate(count * sizeof(T));
    EXPECT_NE(made, nullptr);
    arrays_.push_back(made);
    return static_cast<T*>(made);
  }
  template <class T>
  T* array(const std::vector<T>& values) {
    T* const made = array<T>(values.size());
    copy_async(made, values.data(), values.size() * sizeof(T), direction::host_to_device, stream);
    return made;
  }
  template <class T>
  T* zeros(std::uint64_t count) {
    T* const made = array<T>(count);
    fill_async(made, 0, count * sizeof(T), stream);
    return made;
  }
  template <class T>
  std::vector<T> read(const T* from, std::uint64_t count) {
    std::vector<T> values(count);
    copy_async(values.data(), from, count * sizeof(T), direction::device_to_host, stream);
    return values;
  }
  template <class T>
  T read(const T* from) {
    return read(from, 1).front();
  }

  /// Returns the error when the host waits for the stream, or an empty text.
  std::string error_of_stream() {
    try {
      synchronize(stream);
    } catch (const device_error& thrown) {
      return thrown.what();
    }
    return {};
  }
  void expect_error(const std::string& part) {
    const std::string said = error_of_stream();
    EXPECT_NE(said.find(part), std::string::npos) << "expected: " << part << "\nsaid: " << said;
    EXPECT_EQ(error_of_stream(), "");  // each error is reported once
  }

  stream_handle stream = make_stream();

 private:
  std::vector<void*> arrays_;
};

}  // namespace gpulog::backend::gpu
