#include "exec/ranks/rank_memory.hpp"

#include <fmt/core.h>

#include <system_error>

#include "support/error.hpp"
#include "support/option_names.hpp"

namespace gpulog::exec {

void limit_memory(backend::host_memory& memory, const rank_means& means) {
  memory.set_limit(means.memory_limit);
  const std::string& folder = means.spill_directory;
  if (folder.empty()) return;
  try {
    memory.spill_into(folder);
  } catch (const std::system_error& reason) {
    throw user_error(fmt::format("the folder {} of {}: {}", folder, option_named("spill"), reason.code().message()));
  }
}

}  // namespace gpulog::exec
