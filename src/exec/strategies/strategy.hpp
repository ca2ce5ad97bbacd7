#pragma once

#include <cstdint>
#include <string_view>

#include "exec/fixpoint/stratum_run.hpp"

/// Strategies: ways to evaluate a stratum, or the versions of a phase. strategies.hpp lists them, in the order in which
/// they are tried. To write one: a folder with a function that does it or leaves it, and a line in a list.
namespace gpulog::exec {

enum class strategy_outcome : std::uint8_t {
  left,      ///< nothing has changed: it can't be done so, it would not pay, or there was no room
  done,      ///< to its end
  stopped,   ///< between two iterations, to be resumed elsewhere
  reordered  ///< between two iterations, as its versions were planned again
};

/// For the part of a stratum before its loop, or for the loop.
template <class Machine>
struct stratum_strategy {
  std::string_view name;
  strategy_outcome (*run)(stratum_run<Machine>& run);
  bool resumes = false;  ///< it can go on with a recursion that was stopped elsewhere
};

/// For versions of a phase: runs some of those that are not done, and marks them.
template <class Machine>
struct version_strategy {
  std::string_view name;
  void (*run)(phase_run<Machine>& phase);
};

}  // namespace gpulog::exec
