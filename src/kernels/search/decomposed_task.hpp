#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/join/pipeline.hpp"
#include "storage/representation/hisa_rows.hpp"

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

/// Seconds of one stage after another.
class stage_clock {
 public:
  /// The stage that ends here began where the last one ended. One that ends twice is the sum.
  void end(const char* name) {
    const double now = storage::seconds_now();
    const auto known = std::find_if(stages_.begin(), stages_.end(),
                                    [name](const auto& one) { return std::string_view(one.first) == name; });
    const double seconds = now - std::exchange(begin_, now);
    if (known != stages_.end()) {
      known->second += seconds;
    } else {
      stages_.emplace_back(name, seconds);
    }
  }
  [[nodiscard]] const std::vector<search_stage>& stages() const { return stages_; }

 private:
  double begin_ = storage::seconds_now();
  std::vector<search_stage> stages_;
};

struct decomposed_counts {
  std::uint64_t candidates = 0;
  std::uint64_t iterations = 0;           ///< of the search that takes most
  std::uint64_t taken_over = 0;           ///< rows that other searches had completed
  std::uint64_t numbers = 0;              ///< that nodes and keys got for searches; 0: values were numbers themselves
  std::vector<search_stage> stages = {};  ///< that were measured
};

}  // namespace gpulog::kernels
