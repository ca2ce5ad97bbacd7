#pragma once

#include <cstdint>
#include <vector>

#include "kernels/join/pipeline.hpp"

/// Iterations of a stratum that a machine runs by itself, where it can do that faster than one by one.
namespace gpulog::exec {

struct looped_version {
  const kernels::pipeline* program;
  const double* candidates_per_row;  ///< of its last run
};

struct looped_phase {
  std::vector<looped_version> versions;
  std::vector<kernels::relation_number> advanced;  ///< behind the versions
};

struct looped_stratum {
  struct relation {
    kernels::relation_number number;
    bool is_counted;  ///< its rows belong to the stratum's deltas
  };
  std::vector<looped_phase> phases;
  std::vector<relation> relations;  ///< all that advance
};

struct looped_iterations {
  struct version_counts {
    std::uint64_t runs = 0;
    std::uint64_t candidates = 0;
    std::uint64_t fresh = 0;
  };
  std::vector<std::uint64_t> deltas;          ///< by iteration: counted rows
  std::size_t next_phase = 0;                 ///< where the next iteration goes on
  bool has_run = false;                       ///< indexes of relations that advanced have to be refreshed
  bool goes_on = false;                       ///< can go on by itself, once they have been
  std::vector<version_counts> versions;       ///< in the order of phases and versions; if it has run
  const kernels::pipeline* faulty = nullptr;  ///< its arithmetic failed
};

class iteration_runner {
 public:
  iteration_runner() = default;
  iteration_runner(const iteration_runner&) = delete;
  iteration_runner& operator=(const iteration_runner&) = delete;
  virtual ~iteration_runner() = default;

  /// Runs iterations, the first one from a phase on, until no relation has a delta or it has to stop. Indexes are
  /// fresh.
  [[nodiscard]] virtual looped_iterations run(std::size_t first_phase) = 0;
};

}  // namespace gpulog::exec
