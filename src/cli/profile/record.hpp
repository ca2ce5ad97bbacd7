#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace gpulog::cli {

/// One version of a rule in the record of a run.
struct recorded_rule {
  std::string rule, location;
  int delta_atom = -1;
  std::string stratum;  ///< its relations
  std::uint64_t runs = 0, candidates = 0, tuples = 0;
  double seconds = 0;        ///< with those of the indexes that were made for it
  double index_seconds = 0;  ///< of them
};

/// The record of a run that `-p` wrote (docs/record.md).
struct run_record {
  std::string file;
  nlohmann::ordered_json document;
  std::vector<recorded_rule> rules;  ///< of all strata, in their order
};

/// @throws input_error that says what is wrong with the file: it is cut off, no record, or one of another version
[[nodiscard]] run_record read_record(const std::string& file);
/// Of the text of a file. @throws input_error as read_record does
[[nodiscard]] run_record record_of(const std::string& text, const std::string& file);

}  // namespace gpulog::cli
