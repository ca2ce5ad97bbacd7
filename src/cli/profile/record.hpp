#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace gpulog::cli {

/// A version of a rule in the record of a run.
struct recorded_rule {
  std::string rule, location;
  int delta_atom = -1;
  std::string stratum;  ///< relations of the stratum
  std::uint64_t runs = 0, candidates = 0, tuples = 0;
  double seconds = 0;        ///< includes the time of indexes built for the rule
  double index_seconds = 0;  ///< part of `seconds`
};

/// The record of a run, written by `-p` (docs/record.md).
struct run_record {
  std::string file;
  nlohmann::ordered_json document;
  std::vector<recorded_rule> rules;  ///< of all strata, in order
};

/// @throws input_error if the file is truncated, is not a record, or has another version
[[nodiscard]] run_record read_record(const std::string& file);
/// Parses the text of a file.
/// @throws input_error as read_record
[[nodiscard]] run_record record_of(const std::string& text, const std::string& file);

}  // namespace gpulog::cli
