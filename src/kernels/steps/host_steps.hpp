#pragma once

#include <cstdint>
#include <vector>

#include "kernels/join/pipeline.hpp"
#include "kernels/steps/text_functions.hpp"
#include "storage/relation/relation.hpp"

/// Steps that a device leaves to the host, which has the tables of texts.
namespace gpulog::kernels {

[[nodiscard]] bool needs_host(scalar_op op);
[[nodiscard]] inline bool needs_host(comparison_op op) { return op >= comparison_op::less_symbol; }
[[nodiscard]] bool needs_host(const step& one);

/// Runs the steps of a `host` segment over tiles of bindings. Used by one worker.
class host_step_runner {
 public:
  explicit host_step_runner(const pipeline& program);

  /// @param registers by register number (slots only): input or output of the tile's values; null: unused
  /// @param n at most storage::tile_rows
  /// @return the number of remaining bindings, moved to the start in their order
  /// @throws arithmetic_fault
  std::uint32_t run(const segment& here, const std::vector<word*>& registers, std::uint32_t n);

 private:
  [[nodiscard]] const word* value(const std::vector<word*>& registers, register_number number) const;
  std::uint32_t run_step(const step& one, const std::vector<word*>& registers, std::uint32_t n);

  const pipeline* program_;
  std::vector<word> constants_;  // [constant][row of the tile]
  std::uint16_t selected_[storage::tile_rows];
  part_finder parts_;
};

}  // namespace gpulog::kernels
