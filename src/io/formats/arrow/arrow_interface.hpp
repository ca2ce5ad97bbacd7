#pragma once

#include <cstdint>

#include "gpulog/arrow.hpp"

namespace gpulog::io {

enum class arrow_format : std::uint32_t { parquet, arrow };

/// Where a function of the library src/arrow leaves what went wrong.
struct arrow_problem {
  char text[1024];
};

/// What libgpulog_arrow.so has: both return whether it worked. An Arrow file may also be of the streaming format.
using arrow_read_function = bool (*)(const char* path, arrow_format, unsigned threads, ArrowArrayStream* rows,
                                     arrow_problem*);
/// Takes the rows, also where it fails.
using arrow_write_function = bool (*)(const char* path, arrow_format, ArrowArrayStream* rows, arrow_problem*);

inline constexpr const char* arrow_read_name = "gpulog_arrow_read";
inline constexpr const char* arrow_write_name = "gpulog_arrow_write";

/// Releases what a library gave, as the interface asks for.
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
