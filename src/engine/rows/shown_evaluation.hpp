#pragma once

#include <memory>

#include "engine/engine_state.hpp"
#include "engine/evaluation.hpp"

namespace gpulog::detail {

/// Keeps the rows of a relation alive, even if the engine is evaluated again or reset.
struct shown_evaluation {
  std::shared_ptr<engine_state> engine;
  std::shared_ptr<evaluation> home;   ///< destroyed first; nullptr: no evaluation yet
  std::shared_ptr<const void> shown;  ///< rows do not move while this pointer exists
};

}  // namespace gpulog::detail
