#include "plan_run.hpp"

#include "../backend/thread_launcher.hpp"
#include "exec/cpu/cpu_machine.hpp"
#include "exec/fixpoint/fixpoint.hpp"

namespace gpulog::exec {

std::unique_ptr<executor> make_executor_with_own_threads(const plan::program& plan, storage::symbol_table& symbols,
                                                         backend::memory_resource& memory, const options& chosen) {
  return std::make_unique<fixpoint_executor<cpu_machine<backend::cpu::thread_backend>>>(
      plan, symbols, memory, chosen, memory, chosen.cut, chosen.threads);
}

}  // namespace gpulog::exec
