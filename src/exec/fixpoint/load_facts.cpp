#include <vector>

#include "exec/executor.hpp"
#include "support/error.hpp"
#include "support/long_vector.hpp"

namespace gpulog::exec {

void load_facts(executor& target, const plan::program& program, storage::wide_values* wide) {
  for (const plan::fact_block& block : program.facts) {
    const std::size_t arity = program.relations[block.relation.value].kinds.size();
    std::vector<std::vector<word>> columns(arity);
    for (std::size_t c = 0; c < arity; ++c) {
      columns[c].reserve(memory_size(block.rows));
      for (std::uint64_t row = 0; row < block.rows; ++row) {
        columns[c].push_back(storage::word_of(block.values[static_cast<std::size_t>(row) * arity + c], wide));
      }
    }
    std::vector<const word*> pointers;
    for (const auto& column : columns) pointers.push_back(column.data());
    target.load(block.relation, pointers, block.rows);
  }
}

void executor::read_pairs(relation_id, std::uint64_t, std::uint64_t, word* const*) const {
  throw internal_error("an executor without equivalence relations is asked for pairs");
}

}  // namespace gpulog::exec
