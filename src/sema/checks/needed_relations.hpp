#pragma once

#include <vector>

#include "sema/program.hpp"

namespace gpulog::sema {

/// Returns, by relation_id, whether an `.output` or a `.printsize` depends on the relation. As in Soufflé, the
/// remaining relations need neither be computed nor loaded.
[[nodiscard]] std::vector<bool> needed_relations(const program& analysed);

}  // namespace gpulog::sema
