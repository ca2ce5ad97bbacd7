#pragma once

#include <functional>

namespace gpulog::cli {

/// Calls the action on a stack of 8 MB, independent of `ulimit -s`; threads that the action starts also get 8 MB. The
/// depth checks of the parser and the analysis rely on this size. Call before starting any thread.
int on_large_stack(const std::function<int()>& action);

}  // namespace gpulog::cli
