#include "backend/cpu/tbb_backend.hpp"
#include "exec/cpu/cpu_machine.hpp"
#include "exec/fixpoint/fixpoint.hpp"

namespace gpulog::exec {

// Also for one thread: the launcher then runs blocks one after another, and another backend would double the largest
// unit.
using machine = cpu_machine<backend::cpu::tbb_backend>;
static_assert(fixpoint_machine<machine>);

std::unique_ptr<stratum_executor> make_cpu_executor(const plan::program& program, storage::symbol_table& symbols,
                                                    backend::memory_resource& resource, const options& chosen) {
  return std::make_unique<fixpoint_executor<machine>>(program, symbols, resource, chosen, resource, chosen.cut,
                                                      chosen.threads);
}

}  // namespace gpulog::exec
