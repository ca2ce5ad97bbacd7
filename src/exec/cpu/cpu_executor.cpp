#include "backend/cpu/tbb_backend.hpp"
#include "exec/cpu/cpu_machine.hpp"
#include "exec/fixpoint/fixpoint.hpp"

namespace gpulog::exec {

static_assert(fixpoint_machine<cpu_machine<backend::cpu::serial_backend>>);
static_assert(fixpoint_machine<cpu_machine<backend::cpu::tbb_backend>>);

std::unique_ptr<stratum_executor> make_cpu_executor(const plan::program& program, storage::symbol_table& symbols,
                                                    backend::memory_resource& resource, const options& chosen) {
  if (chosen.threads == 1) return make_serial_executor(program, symbols, resource, chosen);
  return std::make_unique<fixpoint_executor<cpu_machine<backend::cpu::tbb_backend>>>(
      program, symbols, resource, chosen, resource, chosen.cut, chosen.threads);
}

std::unique_ptr<stratum_executor> make_serial_executor(const plan::program& program, storage::symbol_table& symbols,
                                                       backend::memory_resource& resource, const options& chosen) {
  return std::make_unique<fixpoint_executor<cpu_machine<backend::cpu::serial_backend>>>(program, symbols, resource,
                                                                                        chosen, resource, chosen.cut);
}

}  // namespace gpulog::exec
