#pragma once

#include <vector>

#include "sema/program.hpp"

namespace gpulog::sema {

/// By relation_id: whether an `.output` or a `.printsize` depends on the relation. As for Soufflé, others need neither
/// be computed nor loaded.
[[nodiscard]] std::vector<bool> needed_relations(const program& analysed);

}  // namespace gpulog::sema
