#pragma once

#include <functional>

namespace gpulog {

/// Calls the action on a thread whose stack suffices for trees of syntax::deepest_nesting levels, at once where the
/// caller runs on such a thread. Only the part of the stack that is used takes memory. False where no such thread can
/// be started. @throws what the action throws
bool on_deep_stack(const std::function<void()>& action);

}  // namespace gpulog
