#include "exec/gpu/hisa_executor.hpp"

#include "exec/fixpoint/fixpoint.hpp"
#include "exec/gpu/hisa_machine.hpp"

namespace gpulog::exec {

std::unique_ptr<stratum_executor> make_hisa_executor(const plan::program& program, storage::symbol_table& symbols,
                                                     const options& chosen, const backend::gpu::device_context& context,
                                                     backend::memory_resource& memory) {
  return std::make_unique<fixpoint_executor<hisa_machine>>(program, symbols, memory, chosen, context, memory, chosen);
}

}  // namespace gpulog::exec
