#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "backend/array.hpp"
#include "kernels/join/fold.hpp"
#include "kernels/join/pipeline.hpp"
#include "kernels/steps/records.hpp"
#include "kernels/steps/text_functions.hpp"
#include "storage/relation/relation.hpp"

namespace gpulog::kernels {

using storage::relation;
using storage::tile_rows;

/// State of an expansion: lookups for the previous tile, and the pairs being written.
struct expansion_scratch {
  std::uint64_t codes[tile_rows];
  std::uint64_t homes[tile_rows];
  storage::row_range ranges[tile_rows];
  std::uint16_t matched[tile_rows];  ///< bindings with matches in the current run
  std::uint16_t owners[tile_rows];
  std::uint64_t rows[tile_rows];
  std::uint32_t filled = 0;
  std::uint32_t gathered = 0;

  /// Writes n pairs of the binding `owner` with rows from `first` after the filled pairs.
  void write(std::uint32_t owner, std::uint64_t first, std::uint32_t n) {
    for (std::uint32_t k = 0; k < n; ++k) {
      owners[filled + k] = static_cast<std::uint16_t>(owner);
      rows[filled + k] = first + k;
    }
  }
};

struct sorted_rows;

/// Rows to pair with a binding of the previous tile: [begin, end), or these places of `sorted`, offset by `first`.
struct wanted_rows {
  std::uint32_t owner = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  const sorted_rows* sorted = nullptr;
  std::uint64_t first = 0;
};

/// State of an expansion with alternative searches.
struct choice_scratch {
  std::uint64_t fewest[tile_rows];
  std::uint64_t counts[tile_rows];
  std::uint8_t chosen[tile_rows];
};

/// A worker's memory for tiles; reused between rules, so that a rule with a tiny delta needs no allocation.
struct tile_scratch {
  /// @param memory provides the registers, whose size grows with the atoms and live variables of a rule
  explicit tile_scratch(backend::memory_resource& memory = backend::unlimited_memory()) : registers(memory) {}

  backend::array<word> registers;  // [segment][register][row of the tile]
  std::vector<word> constants;     // one column per constant, filled as far as need_constants() asked
  std::vector<std::unique_ptr<expansion_scratch>> expansions;  // by segment; null if not an expansion
  std::vector<std::unique_ptr<fold_state>> folds;              // by segment; null if not a fold
  expansion_scratch probe;                                     // for existence tests
  std::vector<std::unique_ptr<choice_scratch>> choices;        // by segment; null without choices
  std::vector<std::vector<wanted_rows>> rounds;                // by segment: rows still to examine for first matches
  // Readers of matrices: for steps by relation, for expansions by segment; null if unused.
  std::vector<std::unique_ptr<storage::matrix_reader>> step_readers;
  std::vector<std::unique_ptr<storage::matrix_reader>> expansion_readers;
  storage::insert_scratch insert;
  std::uint16_t selected[tile_rows];
  std::uint8_t found[tile_rows];
  record_memory records;
  part_finder parts;
  std::vector<const word*> head;   // columns of the inserted tuples
  std::vector<const word*> tuple;  // columns of the tuples that are looked up

  /// Allocates the memory of a pipeline and takes its constants.
  /// @throws backend::memory_exceeded
  void prepare(const pipeline& program) {
    prepared_ = nullptr;
    const std::size_t segments = program.segments.size();
    const std::size_t words = words_of(program);
    // Discards the old contents instead of copying them.
    if (words > registers.size()) {
      registers.release();
      registers.resize(words);
    }
    if (constants.size() < program.constants.size() * tile_rows) constants.resize(program.constants.size() * tile_rows);
    if (head.size() < program.head.size()) head.resize(program.head.size());
    if (expansions.size() < segments) {
      expansions.resize(segments);
      folds.resize(segments);
      choices.resize(segments);
      rounds.resize(segments);
    }
    for (std::size_t i = 0; i < segments; ++i) {
      const segment& made = program.segments[i];
      const bool expands =
          made.kind == expansion_kind::scan || made.kind == expansion_kind::match || made.kind == expansion_kind::range;
      if (expands && expansions[i] == nullptr) expansions[i] = std::make_unique<expansion_scratch>();
      if (made.kind == expansion_kind::fold && folds[i] == nullptr) folds[i] = std::make_unique<fold_state>();
      if (!made.choices.empty() && choices[i] == nullptr) choices[i] = std::make_unique<choice_scratch>();
    }
    forget_readers();
    take_constants(program);
  }

  /// Takes the constants of a pipeline that was prepared before, if the worker has run a different pipeline since. A
  /// preparation that ran out of memory has freed the registers.
  /// @throws backend::memory_exceeded
  void return_to(const pipeline& program) {
    if (prepared_ == &program) return;
    if (registers.size() < words_of(program)) return prepare(program);
    take_constants(program);
  }
  /// Call before each run: a matrix may have become columns since the last run.
  void forget_readers() {
    step_readers.clear();
    expansion_readers.clear();
  }

  /// Fills the columns of constants for a tile of n rows.
  void need_constants(std::uint32_t n) {
    if (n > filled_rows_) fill_constants(n <= few_rows ? few_rows : tile_rows);
  }

 private:
  static constexpr std::uint32_t few_rows = 16;

  [[nodiscard]] static std::size_t words_of(const pipeline& program) {
    return program.segments.size() * program.slot_count * tile_rows;
  }
  void take_constants(const pipeline& program) {
    prepared_ = &program;
    values_ = program.constants.data();
    value_count_ = program.constants.size();
    for (std::size_t i = 0; i < value_count_; ++i) constants[i * tile_rows] = values_[i];
    filled_rows_ = 1;
    parts.forget();
  }
  void fill_constants(std::uint32_t rows) {
    for (std::size_t i = 0; i < value_count_; ++i) {
      word* const column = constants.data() + i * tile_rows;
      for (std::uint32_t row = filled_rows_; row < rows; ++row) column[row] = values_[i];
    }
    filled_rows_ = rows;
  }

  const pipeline* prepared_ = nullptr;
  const word* values_ = nullptr;  // of the pipeline that was prepared last
  std::size_t value_count_ = 0;
  std::uint32_t filled_rows_ = 0;
};

}  // namespace gpulog::kernels
