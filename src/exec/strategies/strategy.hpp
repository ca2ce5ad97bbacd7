#pragma once

#include <cstdint>
#include <string_view>

#include "exec/fixpoint/stratum_run.hpp"

/// Strategies: ways to evaluate a stratum, or the versions of a phase. strategies.hpp lists strategies in the order of
/// preference. A new strategy is a folder with a function that returns `left` if not applicable, and a line in a list.
namespace gpulog::exec {

enum class strategy_outcome : std::uint8_t {
  left,      ///< no effect: not applicable, does not pay, or too little memory
  done,      ///< complete
  stopped,   ///< stopped between two iterations, to be resumed by a different executor
  reordered  ///< stopped between two iterations, because the versions have a new plan
};

/// Evaluates the part of a stratum before its loop, or the loop.
template <class Machine>
struct stratum_strategy {
  std::string_view name;
  strategy_outcome (*run)(stratum_run<Machine>& run);
  bool resumes = false;  ///< whether it can resume a recursion stopped by a different executor
};

/// Runs and marks some of the pending versions of a phase.
template <class Machine>
struct version_strategy {
  std::string_view name;
  void (*run)(phase_run<Machine>& phase);
};

}  // namespace gpulog::exec
