#include "engine/evaluation.hpp"

#include <utility>

namespace gpulog::detail {

const std::vector<const word*>& evaluation::columns_of(std::uint32_t relation) {
  if (const auto found = columns_.find(relation); found != columns_.end()) return found->second;
  const relation_id id(relation);
  std::vector<const word*> columns = executor->columns(id);
  if (numbers && numbers->covers(relation)) columns = numbers->restored(relation, columns, executor->rows(id));
  return columns_.emplace(relation, std::move(columns)).first->second;
}

}  // namespace gpulog::detail
