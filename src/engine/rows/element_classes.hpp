#pragma once

#include <cstdint>
#include <unordered_map>

#include "exec/executor.hpp"
#include "support/ids.hpp"

namespace gpulog::detail {

/// The classes of an equivalence relation without the pairs, for membership tests after the evaluation.
class element_classes {
 public:
  element_classes(const exec::executor& executor, relation_id relation);

  [[nodiscard]] bool are_equal(word left, word right) const;

 private:
  std::unordered_map<word, word> smallest_;  ///< by element: the smallest element of its class
};

}  // namespace gpulog::detail
