#include "kernels/steps/host_steps.hpp"

#include <algorithm>

#include "kernels/steps/functor_table.hpp"
#include "kernels/steps/steps.hpp"
#include "kernels/steps/wide_steps.hpp"

namespace gpulog::kernels {

bool needs_host(scalar_op op) {
  return is_text_operation(op) || op == scalar_op::next_counter || op == scalar_op::iteration_number;
}

bool needs_host(const step& one) {
  switch (one.kind) {
    case step_kind::compute:
      return needs_host(one.scalar);
    case step_kind::filter:
      return needs_host(one.comparison);
    case step_kind::pack:
    case step_kind::find_record:
    case step_kind::unpack:
    case step_kind::exists_tuple:
    case step_kind::exists_key:
    case step_kind::exists_any:
      break;
  }
  return false;
}

host_step_runner::host_step_runner(const pipeline& program) : program_(&program) {
  constants_.resize(program.constants.size() * storage::tile_rows);
  for (std::size_t i = 0; i < program.constants.size(); ++i) {
    std::fill_n(constants_.begin() + static_cast<std::ptrdiff_t>(i * storage::tile_rows), storage::tile_rows,
                program.constants[i]);
  }
}

const word* host_step_runner::value(const std::vector<word*>& registers, register_number number) const {
  if (number < program_->slot_count) return registers[number];
  return constants_.data() + static_cast<std::size_t>(number - program_->slot_count) * storage::tile_rows;
}

std::uint32_t host_step_runner::run(const segment& here, const std::vector<word*>& registers, std::uint32_t n) {
  for (const step& one : here.steps) {
    if (n == 0) return 0;
    const std::uint32_t kept = run_step(one, registers, n);
    if (kept == n) continue;
    for (const register_number live : one.live) {
      word* const values = registers[live];
      for (std::uint32_t i = 0; i < kept; ++i) values[i] = values[selected_[i]];
    }
    n = kept;
  }
  return n;
}

std::uint32_t host_step_runner::run_step(const step& one, const std::vector<word*>& registers, std::uint32_t n) {
  switch (one.kind) {
    case step_kind::compute: {
      word* const result = registers[one.result];
      if (one.scalar == scalar_op::next_counter) {
        count_up(*program_, n, result);
        return n;
      }
      if (one.scalar == scalar_op::iteration_number) {
        std::fill_n(result, n, *program_->iteration);
        return n;
      }
      std::vector<const word*> arguments;
      for (const register_number argument : one.arguments) arguments.push_back(value(registers, argument));
      if (one.scalar == scalar_op::call_functor) {
        program_->functors->call(arguments, n, result);
      } else {
        compute_text_tile(one.scalar, arguments, n, result, *program_->symbols, parts_, program_->wide);
      }
      return n;
    }
    case step_kind::filter:
      return select_tile(one.comparison, value(registers, one.arguments[0]), value(registers, one.arguments[1]), n,
                         program_->symbols, selected_);
    case step_kind::pack:
    case step_kind::find_record:
    case step_kind::unpack:
    case step_kind::exists_tuple:
    case step_kind::exists_key:
    case step_kind::exists_any:
      break;  // executed by the device
  }
  return n;
}

}  // namespace gpulog::kernels
