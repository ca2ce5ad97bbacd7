#pragma once

#if __cplusplus < 202002L
#error "gpulog needs C++20: compile with -std=c++20"
#endif

/// Marks declarations exported from a shared library; the library is compiled with hidden visibility.
#define GPULOG_API __attribute__((visibility("default")))
