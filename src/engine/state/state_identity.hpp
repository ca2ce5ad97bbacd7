#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/run_context.hpp"

namespace gpulog::detail {

/// Everything except fact files that determines results and the numbers of the program's symbols, as pairs of a subject
/// and a value.
using state_identity = std::vector<std::pair<std::string, std::string>>;

/// @throws input_error for a library of functors that can't be read
[[nodiscard]] state_identity identity_of(const run_context& run);

/// Returns why the results of two runs may differ, as a sentence without a dot; empty for equal identities.
[[nodiscard]] std::string why_different(const state_identity& stored, const state_identity& now);

/// The content of the files of an .input directive.
struct input_version {
  std::uint32_t relation = 0;
  std::string content;  ///< a hash; empty if the content is only known by reading: standard input, databases
};

/// Returns the versions of all files of needed relations, in the order of the program. Reads each file once.
[[nodiscard]] std::vector<input_version> input_versions_of(const run_context& run);

/// Returns why the results of a program must be computed from scratch when relations change: their rules depend on the
/// order of facts, or on internal numbers. Empty if affected strata can be evaluated alone.
/// @param changed by relation
[[nodiscard]] std::string why_from_scratch(const run_context& run, const std::vector<bool>& changed);

}  // namespace gpulog::detail
