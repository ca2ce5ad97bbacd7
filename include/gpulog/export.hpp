#pragma once

/// What stands before everything that a shared library of gpulog shows; the library is compiled with hidden visibility.
#define GPULOG_API __attribute__((visibility("default")))
