#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/join/pipeline.hpp"
#include "storage/representation/hisa_rows.hpp"

/// Row equations with steps: for every source, the targets that are reachable from the first tuples. Each source is a
/// separate search with a bitmap of visited values and a queue that becomes its row; a search needs no tuple set, and
/// writes each tuple once.
namespace gpulog::kernels {

/// Where to look up the successors of a value.
struct step_source {
  relation_number relation = 0;
  std::size_t index = 0;
  std::size_t level = 0;     ///< whose key is the value alone
  std::uint32_t stored = 0;  ///< in the layout's stored columns
};

/// The steps of binary equations over values: indexes of relations provide the successors.
struct value_steps {
  std::vector<step_source> steps;
  std::uint64_t values = 0;  ///< exclusive bound of the targets
};

/// Name (a literal) and seconds of a part of the work.
using search_stage = std::pair<const char*, double>;

/// Times consecutive stages.
class stage_clock {
 public:
  /// Ends a stage that started at the end of the previous stage. Adds up repeated stages.
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

struct row_counts {
  std::uint64_t candidates = 0;
  std::uint64_t iterations = 0;             ///< of the longest search, or rounds of products
  std::uint64_t taken_over = 0;             ///< rows taken over from complete searches
  std::uint64_t numbers = 0;                ///< numbers assigned to targets and keys; 0: values were numbers themselves
  std::vector<search_stage> stages = {};    ///< measured stages
  std::vector<std::uint64_t> by_rule = {};  ///< candidates of rules that run once
};

}  // namespace gpulog::kernels
