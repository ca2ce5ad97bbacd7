#pragma once

#include <algorithm>
#include <memory>
#include <optional>

#include "kernels/join/fold_memory.hpp"
#include "kernels/join/windows.hpp"

namespace gpulog::exec {

/// What the workers of one run of a pipeline remember together: what earlier runs have remembered where that is still
/// true, else nothing yet.
class run_memory {
 public:
  run_memory(const kernels::pipeline& program, backend::memory_resource& resource)
      : windows_(program.windows.get()), folded_(program.folded.get()) {
    if (!program.may_remember) return;
    const auto has_window = [](const kernels::segment& one) { return !one.limits.bounds.empty(); };
    if (windows_ == nullptr && std::any_of(program.segments.begin(), program.segments.end(), has_window))
      windows_ = &new_windows_.emplace(program, resource);
    if (folded_ != nullptr) return;
    new_folded_ = kernels::memory_of_folds(program, resource);
    folded_ = new_folded_.get();
  }
  run_memory(const run_memory&) = delete;  // refers to its parts
  run_memory& operator=(const run_memory&) = delete;

  /// nullptr: the pipeline has none.
  [[nodiscard]] kernels::run_windows* windows() const { return windows_; }
  [[nodiscard]] kernels::fold_memory* folded() const { return folded_; }

 private:
  std::optional<kernels::run_windows> new_windows_;
  std::shared_ptr<kernels::fold_memory> new_folded_;
  kernels::run_windows* windows_;
  kernels::fold_memory* folded_;
};

}  // namespace gpulog::exec
