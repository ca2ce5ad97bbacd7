#pragma once

#include <cstdint>

#include "storage/calibration.hpp"

namespace gpulog::storage {

/// Returns whether an elder and a younger run of HISA remain separate.
[[nodiscard]] constexpr bool stays_apart(std::uint64_t elder, std::uint64_t younger) {
  return younger < calibration::few_hisa_rows && elder >= calibration::merge_factor * younger;
}

}  // namespace gpulog::storage
