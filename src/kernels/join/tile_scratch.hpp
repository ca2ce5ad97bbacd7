#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "backend/array.hpp"
#include "kernels/join/fold.hpp"
#include "kernels/join/pipeline.hpp"
#include "kernels/steps/records.hpp"
#include "storage/relation/relation.hpp"

namespace gpulog::kernels {

using storage::relation;
using storage::tile_rows;

/// What an expansion knows of the tile before it, and of the pairs that it writes out.
struct expansion_scratch {
  std::uint64_t codes[tile_rows];
  std::uint64_t homes[tile_rows];
  storage::row_range ranges[tile_rows];
  std::uint16_t matched[tile_rows];  ///< bindings that have matches in the run that is searched
  std::uint16_t owners[tile_rows];
  std::uint64_t rows[tile_rows];
  std::uint32_t filled = 0;
  std::uint32_t gathered = 0;
};

struct sorted_rows;

/// Rows that a binding of the tile before is paired with: [begin, end), or those at these places of `sorted`, counted
/// from `first`.
struct wanted_rows {
  std::uint32_t owner = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  const sorted_rows* sorted = nullptr;
  std::uint64_t first = 0;
};

/// What an expansion with a choice of searches knows of the tile before it.
struct choice_scratch {
  std::uint64_t fewest[tile_rows];
  std::uint64_t counts[tile_rows];
  std::uint8_t chosen[tile_rows];
};

/// One worker's memory for tiles; kept from rule to rule, so that a rule with a tiny delta pays no allocation.
struct tile_scratch {
  /// @param memory has the registers, which grow with the atoms of a rule and the variables that it needs at a time
  explicit tile_scratch(backend::memory_resource& memory = backend::unlimited_memory()) : registers(memory) {}

  backend::array<word> registers;  // [segment][register][row of the tile]
  std::vector<word> constants;     // by constant, its column; filled as far as need_constants() asked
  std::vector<std::unique_ptr<expansion_scratch>> expansions;  // by segment; null for others
  std::vector<std::unique_ptr<fold_state>> folds;              // by segment; null for others
  expansion_scratch probe;                                     // of existence tests
  std::vector<std::unique_ptr<choice_scratch>> choices;        // by segment; null for others
  std::vector<std::vector<wanted_rows>> rounds;                // by segment: of first matches, what is left to look at
  // Readers of factorized relations: of steps by relation, of expansions by segment; null for others.
  std::vector<std::unique_ptr<storage::factorized_reader>> step_readers;
  std::vector<std::unique_ptr<storage::factorized_reader>> expansion_readers;
  storage::insert_scratch insert;
  std::uint16_t selected[tile_rows];
  std::uint8_t found[tile_rows];
  record_memory records;
  std::vector<std::uint64_t> counts;  // by place (step_counts), of a worker beside others
  std::vector<const word*> head;      // columns of the tuples that are offered
  std::vector<const word*> tuple;     // columns of the tuples that are looked up

  /// Makes room for a pipeline, and takes its constants. @throws backend::memory_exceeded
  void prepare(const pipeline& program) {
    const std::size_t segments = program.segments.size();
    const std::size_t words = segments * program.slot_count * tile_rows;
    // What is there is of no use: it need not be copied into larger memory.
    if (words > registers.size()) {
      registers.release();
      registers.resize(words);
    }
    take_constants(program);
    if (head.size() < program.head.size()) head.resize(program.head.size());
    if (expansions.size() < segments) {
      expansions.resize(segments);
      folds.resize(segments);
      choices.resize(segments);
      rounds.resize(segments);
    }
    step_readers.clear();
    expansion_readers.clear();
    for (std::size_t i = 0; i < segments; ++i) {
      const segment& made = program.segments[i];
      const bool expands =
          made.kind == expansion_kind::scan || made.kind == expansion_kind::match || made.kind == expansion_kind::range;
      if (expands && expansions[i] == nullptr) expansions[i] = std::make_unique<expansion_scratch>();
      if (made.kind == expansion_kind::fold && folds[i] == nullptr) folds[i] = std::make_unique<fold_state>();
      if (!made.choices.empty() && choices[i] == nullptr) choices[i] = std::make_unique<choice_scratch>();
    }
  }

  /// Fills the columns of constants for a tile of n rows.
  void need_constants(std::uint32_t n) {
    if (n > filled_rows_) fill_constants(n <= few_rows ? few_rows : tile_rows);
  }

 private:
  static constexpr std::uint32_t few_rows = 16;

  void take_constants(const pipeline& program) {
    values_ = program.constants.data();
    value_count_ = program.constants.size();
    if (constants.size() < value_count_ * tile_rows) constants.resize(value_count_ * tile_rows);
    filled_rows_ = 0;
    fill_constants(1);
  }
  void fill_constants(std::uint32_t rows) {
    for (std::size_t i = 0; i < value_count_; ++i) {
      word* const column = constants.data() + i * tile_rows;
      for (std::uint32_t row = filled_rows_; row < rows; ++row) column[row] = values_[i];
    }
    filled_rows_ = rows;
  }

  const word* values_ = nullptr;  // of the pipeline that was prepared last
  std::size_t value_count_ = 0;
  std::uint32_t filled_rows_ = 0;
};

}  // namespace gpulog::kernels
