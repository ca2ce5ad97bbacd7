#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gpulog/export.hpp"

namespace gpulog {

/// Time of one part of the work, as the storage in use divides it (join, deduplicate, merge, index, ...).
struct phase_statistics {
  std::string name;
  double seconds = 0;
};

/// One semi-naive version of a rule.
struct rule_statistics {
  std::string rule;              ///< as written
  std::string location;          ///< file and lines
  int delta_atom = -1;           ///< which body atom reads only new tuples, from 0; -1: none
  std::uint64_t runs = 0;        ///< in how many iterations it ran
  std::uint64_t candidates = 0;  ///< head tuples produced, duplicates counted
  std::uint64_t tuples = 0;      ///< of them, new ones
  double seconds = 0;
  std::uint64_t runs_by_rows = 0;  ///< of its runs, those that made results for one value of a column at a time
  std::vector<std::string> plan;   ///< one operator each, outermost loop first; numbers behind ~ are what was expected
};

struct stratum_statistics {
  std::vector<std::string> relations;
  bool recursive = false;
  std::string backend;  ///< where it ran; of relations without rules: where they were loaded
  std::string reason;   ///< why there, or why a part of it ran on the cpu; empty where there was no choice
  /// Those that ran it, for the part in front of the loop and the loop: "versions" or "row-evaluation", then "loop",
  /// "search" (one for each value that its rules pass through) or "search-over-numbers". Other ones may come.
  std::vector<std::string> strategies;
  bool was_run = true;  ///< false: another stratum stands for it, see given_up
  /// Of a recursion with relations that were restricted to what it asks for: which share of the rows that was, more
  /// than expected, when it was given up; a stratum behind went on without restrictions, from what there was.
  std::optional<double> given_up;
  std::uint64_t iterations = 0;
  /// Of a recursion that began on the cpu and went on on a device: how many of the iterations the cpu ran.
  std::optional<std::uint64_t> iterations_before_move;
  std::uint64_t tail_iterations = 0;    ///< those whose new tuples are less than 1% of the result's
  std::uint64_t looped_iterations = 0;  ///< those that a device ran without the host, many in a launch
  double seconds = 0;
  std::vector<phase_statistics> phases;
  std::vector<rule_statistics> rules;
};

struct relation_statistics {
  std::string name;
  std::uint64_t tuples = 0;
  std::uint64_t bytes = 0;  ///< columns, tuple set and indexes
  /// How its tuples were told from new ones at the end of its stratum: "hash", "bits", "words" or "hisa"; empty: no
  /// stratum extended it, or none had to be told.
  std::string set;
};

/// What a run took.
struct statistics {
  std::string fallback_reason;  ///< why the program ran on the cpu although a device is there; mostly empty
  std::string backend;
  std::string storage;
  unsigned jobs = 1;
  unsigned word_size = 32;        ///< in bits
  std::uint64_t wide_values = 0;  ///< with 64 bits: different values that are kept in a table (docs/adr/0013)
  double compile_seconds = 0;     ///< text to plan
  double load_seconds = 0;        ///< fact files
  double evaluate_seconds = 0;    ///< all strata
  double write_seconds = 0;       ///< output files
  double total_seconds = 0;       ///< all of these
  std::uint64_t loaded_tuples = 0;
  std::uint64_t written_tuples = 0;
  std::uint64_t peak_relation_bytes = 0;       ///< most that relations and indexes held at one time
  std::uint64_t peak_process_bytes = 0;        ///< largest resident set of the process, as the system counts it
  std::vector<std::string> dense_columns;      ///< columns whose values were numbers meanwhile, as "relation.attribute"
  std::uint64_t reordered_versions = 0;        ///< of rules, whose joins were ordered again while the program ran
  std::map<std::string, double> pass_seconds;  ///< of the planner, by name of the pass; parts of evaluate_seconds
  std::vector<stratum_statistics> strata;
  std::vector<relation_statistics> relations;
};

/// As a JSON document, closed by a newline; keys are the names of the members.
[[nodiscard]] GPULOG_API std::string to_json(const statistics& figures);

}  // namespace gpulog
