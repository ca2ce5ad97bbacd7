#pragma once

#include <cstdint>
#include <vector>

#include "kernels/join/pipeline.hpp"

/// Iterations of a stratum that a machine runs without the host, where this is faster.
namespace gpulog::exec {

struct looped_version {
  const kernels::pipeline* program;
  const double* candidates_per_row;  ///< of the last run
};

struct looped_phase {
  std::vector<looped_version> versions;
  std::vector<kernels::relation_number> advanced;  ///< after the versions
};

struct looped_stratum {
  struct relation {
    kernels::relation_number number;
    bool is_counted;  ///< whether its rows count as deltas of the stratum
  };
  std::vector<looped_phase> phases;
  std::vector<relation> relations;  ///< all relations that advance
};

struct looped_iterations {
  struct version_counts {
    std::uint64_t runs = 0;
    std::uint64_t candidates = 0;
    std::uint64_t fresh = 0;
  };
  std::vector<std::uint64_t> deltas;  ///< by iteration: counted rows
  std::size_t next_phase = 0;         ///< phase at which the next iteration starts
  bool has_run = false;  ///< whether any iteration ran; then the indexes of advanced relations must be refreshed
  bool goes_on = false;  ///< can continue on the machine after the refresh
  std::vector<version_counts> versions;       ///< in the order of phases and versions; only if has_run
  const kernels::pipeline* faulty = nullptr;  ///< version whose arithmetic failed
};

class iteration_runner {
 public:
  iteration_runner() = default;
  iteration_runner(const iteration_runner&) = delete;
  iteration_runner& operator=(const iteration_runner&) = delete;
  virtual ~iteration_runner() = default;

  /// Runs iterations until no relation has a delta or the runner must stop. Indexes must be up to date.
  /// @param first_phase phase at which the first iteration starts
  [[nodiscard]] virtual looped_iterations run(std::size_t first_phase) = 0;
};

}  // namespace gpulog::exec
