#pragma once

#include <vector>

#include "sema/program.hpp"

namespace gpulog::sema {

/// Returns, by relation_id, whether an `.output` or a `.printsize` depends on the relation. As in Soufflé, the
/// remaining relations need neither be computed nor loaded.
[[nodiscard]] std::vector<bool> needed_relations(const program& analysed);

/// Returns, by relation_id, whether an `.output`, a `.printsize` or a query prints the relation.
[[nodiscard]] std::vector<bool> printed_relations(const program& analysed);

/// Returns, by relation_id and column, whether an input has texts in the column that neither a rule of a needed
/// relation nor an output reads: any text in their place gives the same outputs.
[[nodiscard]] std::vector<std::vector<bool>> unread_texts(const program& analysed, const std::vector<bool>& needed);

}  // namespace gpulog::sema
