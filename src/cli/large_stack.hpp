#pragma once

#include <functional>

namespace gpulog::cli {

/// Calls the action where its stack, and those of threads that it starts, have 8 MB, whatever `ulimit -s` allows the
/// first thread: the checks of depth count on that. To be called before any other thread is started.
int on_large_stack(const std::function<int()>& action);

}  // namespace gpulog::cli
