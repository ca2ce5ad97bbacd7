#pragma once

#include <memory>

#include "engine/engine_state.hpp"
#include "engine/evaluation.hpp"

namespace gpulog::detail {

/// What has the rows of a relation, whatever becomes of the engine: it may be evaluated again, or be reset.
struct shown_evaluation {
  std::shared_ptr<engine_state> engine;
  std::shared_ptr<evaluation> home;   ///< goes first; nullptr: nothing was evaluated yet
  std::shared_ptr<const void> shown;  ///< while it is there, the rows stay where they are
};

}  // namespace gpulog::detail
