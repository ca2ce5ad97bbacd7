#pragma once

#include <string>
#include <vector>

#include "engine/run_values.hpp"
#include "engine/state/state_file.hpp"

/// The tables of a run's values in a state file. Restored values keep their numbers, so stored rows keep their
/// meaning.
namespace gpulog::detail {

/// The sizes of the tables.
struct value_counts {
  std::uint64_t symbols = 0, wide = 0;
  std::vector<std::uint64_t> records;  ///< by arity
};

/// @param base the tables of the file that the writer adds to, which have the same first values; nullptr: a new file
[[nodiscard]] value_counts save_values(run_values& values, const value_counts* base, state_file_writer& file);
/// Returns the names of the sections with the tables.
[[nodiscard]] std::vector<std::string> sections_of_values(const value_counts& counts);
/// Adds the values of verified sections to the tables of an engine that has evaluated nothing.
/// @throws unusable_state, without any effect, if values of the engine have other numbers in the file;
///   backend::memory_exceeded
void restore_values(const state_file& file, const value_counts& counts, run_values& values);

}  // namespace gpulog::detail
