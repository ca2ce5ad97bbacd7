#pragma once

/// Marks declarations exported from a shared library; the library is compiled with hidden visibility.
#define GPULOG_API __attribute__((visibility("default")))
