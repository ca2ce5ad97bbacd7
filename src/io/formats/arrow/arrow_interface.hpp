#pragma once

#include <cstddef>
#include <cstdint>

/// Apache Arrow's C data and C stream interfaces, through which tables pass between libraries that share nothing else
/// (https://arrow.apache.org/docs/format/CDataInterface.html, CStreamInterface.html): the names, the fields and the
/// macros around them are the interface's own.
extern "C" {

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);
  void* private_data;
};

#endif
}

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
