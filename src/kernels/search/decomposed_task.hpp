#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/join/pipeline.hpp"

/// A fixpoint that falls apart: for every value of one column of a binary relation (the invariant), which values of the
/// other one can be reached from the first ones. Each is a search of its own, with a bitmap of the values it has seen
/// and a queue that ends as its result; nothing is looked up in a set of tuples, and no tuple is written twice.
namespace gpulog::kernels {

/// Where the values are found that follow a value.
struct step_source {
  relation_number relation = 0;
  std::size_t index = 0;
  std::size_t level = 0;     ///< whose key is the value alone
  std::uint32_t stored = 0;  ///< of the layout's stored columns
};

struct decomposed_task {
  relation_number target = 0;
  std::uint32_t invariant = 0;  ///< column
  std::uint32_t moving = 1;     ///< the other one
  std::vector<step_source> steps;
  std::uint64_t values = 0;  ///< all that can be met in the moving column are below
};

/// Seconds of a part of the work, by its name, a literal.
using search_stage = std::pair<const char*, double>;

struct decomposed_counts {
  std::uint64_t candidates = 0;
  std::uint64_t iterations = 0;           ///< of the search that takes most
  std::uint64_t taken_over = 0;           ///< rows that other searches had completed
  std::uint64_t numbers = 0;              ///< that nodes and keys got for searches; 0: values were numbers themselves
  std::vector<search_stage> stages = {};  ///< that a device measured
};

}  // namespace gpulog::kernels
