#pragma once

#include <cstdint>

#include "kernels/join/pipeline.hpp"

/// Data that machines and the fixpoint exchange about the work of a phase.
namespace gpulog::exec {

/// Result of a pipeline run.
struct pipeline_counts {
  std::uint64_t candidates = 0;
  std::uint64_t fresh = 0;
  std::uint64_t bindings = 0;  ///< bindings produced by joins, if the machine counts them
  double worker_seconds = 0;   ///< sum over the workers; 0: a single worker, or not measured
};

/// A version of a phase, for a machine that runs several versions at a time.
struct phase_version {
  const kernels::pipeline* program;
  std::uint64_t rows;          ///< rows that its first expansion reads; not 0
  double expected_candidates;  ///< estimated from the last run
  enum class outcome : std::uint8_t { left, done, fault } state = outcome::left;
  pipeline_counts counts;
  double seconds = 0;  ///< on its processor; 0: not measured
};

/// Seconds of the phases that a machine measures itself, because the host only measures the submission of work.
struct machine_phases {
  double join = 0;
  double populate_delta = 0;
  double merge = 0;
  double index = 0;
  double allocation = 0;
};

}  // namespace gpulog::exec
