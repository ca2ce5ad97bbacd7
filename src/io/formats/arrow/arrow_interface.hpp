#pragma once

#include <cstdint>

#include "gpulog/arrow.hpp"

namespace gpulog::io {

enum class arrow_format : std::uint32_t { parquet, arrow };

/// Receives the error message of a function of the library src/arrow.
struct arrow_problem {
  char text[1024];
};

/// The functions of libgpulog_arrow.so. Both return true on success. An Arrow file may have the streaming format.
using arrow_read_function = bool (*)(const char* path, arrow_format, unsigned threads, ArrowArrayStream* rows,
                                     arrow_problem*);
/// Releases the rows, also on failure.
using arrow_write_function = bool (*)(const char* path, arrow_format, ArrowArrayStream* rows, arrow_problem*);

inline constexpr const char* arrow_read_name = "gpulog_arrow_read";
inline constexpr const char* arrow_write_name = "gpulog_arrow_write";

/// Owns a struct of the interface and releases it as the interface requires.
template <class Struct>
class arrow_owned {
 public:
  arrow_owned() = default;
  arrow_owned(arrow_owned&& other) noexcept : value_(other.value_) { other.value_.release = nullptr; }
  arrow_owned& operator=(arrow_owned&&) = delete;
  arrow_owned(const arrow_owned&) = delete;
  arrow_owned& operator=(const arrow_owned&) = delete;
  ~arrow_owned() {
    if (value_.release != nullptr) value_.release(&value_);
  }
  Struct* operator->() { return &value_; }
  const Struct* operator->() const { return &value_; }
  Struct* get() { return &value_; }

 private:
  Struct value_{};
};

}  // namespace gpulog::io
