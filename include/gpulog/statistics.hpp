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

/// A part of a run from its begin, in seconds since the program began to be read.
struct span_statistics {
  std::string name;     ///< compile, load, measure, plan, device start, take over, evaluate, write
  std::string subject;  ///< a file; mostly empty
  double begin = 0;
  double seconds = 0;  ///< up to now where it has not ended
  bool is_complete = true;
};

/// A file of facts or results.
struct file_statistics {
  std::string relation;
  std::string file;
  bool is_output = false;
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;  ///< of the file; 0 where that is not known
  double seconds = 0;
};

/// Iterations of a loop that follow each other. Beyond 1,000 they are merged.
struct iteration_statistics {
  std::uint64_t iterations = 0;
  std::uint64_t delta = 0;  ///< tuples that they found
  double seconds = 0;
};

/// The process at a moment.
struct resource_sample {
  double seconds = 0;                ///< since the program began to be read
  double processor_seconds = 0;      ///< of all threads, up to then
  std::uint64_t process_bytes = 0;   ///< resident
  std::uint64_t relation_bytes = 0;  ///< of relations, indexes and symbols
};

/// What a run is doing, or was doing when it ended.
struct run_step {
  std::string phase;  ///< as span_statistics::name
  std::string doing;  ///< what is done to a relation, as "extending"; empty: nothing that takes long
  std::string relation;
  std::string file;
  std::optional<std::uint64_t> stratum;  ///< from 0
  std::uint64_t stratum_count = 0;
  std::string relations;        ///< of the stratum
  std::string backend;          ///< where it runs; empty where that is not known
  std::uint64_t iteration = 0;  ///< of the loop, from 1; 0: there is none
  std::string rule;
  std::string location;
  double seconds = 0;            ///< of this step
  double run_seconds = 0;        ///< since the program began to be read
  std::uint64_t rows_done = 0;   ///< of those that the rule reads first
  std::uint64_t rows = 0;        ///< 0: not known
  std::uint64_t candidates = 0;  ///< of the rule so far
  double expected_candidates = 0;
  std::uint64_t files_done = 0;
  std::uint64_t files = 0;
  std::uint64_t loaded_tuples = 0;
  std::uint64_t loaded_bytes = 0;
  double load_seconds = 0;
};

/// As one line of text: where a run is, for messages.
[[nodiscard]] GPULOG_API std::string to_text(const run_step& step);

/// How a run ended.
struct outcome_statistics {
  std::string state = "unfinished";  ///< complete, interrupted, failed, or unfinished
  std::string message;               ///< why it is not complete
  std::optional<run_step> step;      ///< of a run that is not complete: what was done last
};

/// A step of a rule's plan.
struct operator_statistics {
  std::string text;                ///< as in --show transformed-ram
  unsigned depth = 0;              ///< loops around it
  bool reads = false;              ///< it is an atom that reads rows of a relation, not one that is only asked
  std::optional<double> expected;  ///< rows that the planner expected behind it in one run; nothing in aggregates
  /// Rows behind it in the runs that were counted (rule_statistics::counted_runs): of an atom those that it read, of a
  /// test those that it let pass. Nothing where none was, and for some tests on a device.
  std::optional<std::uint64_t> rows;
  std::optional<std::uint64_t> passed_on;  ///< of an atom: rows that passed the tests behind it, up to the next atom
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
  std::uint64_t row_wise_runs = 0;  ///< of its runs, those that made results for one value of a column at a time
  std::uint64_t counted_runs = 0;   ///< of its runs, those that `operators` has the rows of
  std::vector<std::string> plan;    ///< one operator each, outermost loop first; numbers behind ~ are what was expected
  std::vector<operator_statistics> operators;  ///< the same, with what came to each
  std::string order;                           ///< why the atoms are in this order
  /// What the joins were before they were ordered again while the program ran; empty: they were not.
  std::vector<std::string> first_plan;
  /// How it ran: "pipelines", where rows are counted by operator; else "search", "search-over-numbers",
  /// "row-wise-evaluation", "subsumption" or the name of a device, which count them in some runs at most. Other ones
  /// may come.
  std::string strategy;
  double index_seconds = 0;  ///< of indexes that it is the first one to need; no part of `seconds`
  /// A count or sum needed more bits than words have, and has wrapped around. Noticed on a CPU.
  bool wraps_around = false;
};

/// An index that a stratum brought up to date.
struct index_statistics {
  std::string relation;
  std::vector<std::string> columns;  ///< by which it is sorted, the key first
  std::size_t rule = 0;              ///< of the stratum's rules, by number: the first one that needs it
  std::uint64_t refreshes = 0;       ///< how often it was asked to be up to date
  std::optional<double> seconds;     ///< nothing where a device measures all indexes of a stratum together
  std::uint64_t bytes = 0;           ///< at the end of the stratum
};

/// What the planner knew of a relation that a stratum reads or makes.
struct size_statistics {
  std::string relation;
  double planned = 0;        ///< tuples
  bool was_counted = false;  ///< else it was a guess
  /// The same in front of the stratum, where its joins were ordered again by what was known then.
  std::optional<double> known_later;
};

struct stratum_statistics {
  std::vector<std::string> relations;
  bool recursive = false;
  std::string backend;  ///< where it ran; of relations without rules: where they were loaded
  std::string reason;   ///< why there, or why a part of it ran on the cpu; empty where there was no choice
  /// Those that ran it, for the part in front of the loop and the loop: "versions" or "row-wise-evaluation", then
  /// "loop", "search" (one for each value that its rules pass through), "search-over-numbers", "row-takeover" or
  /// "condensation". Other ones may come.
  std::vector<std::string> strategies;
  bool is_complete = true;                   ///< false: it is running, or the run failed in it
  double begin = 0;                          ///< since the program began to be read
  std::vector<iteration_statistics> deltas;  ///< of a loop; empty where iterations are not told apart
  bool was_run = true;                       ///< false: another stratum stands for it, see given_up
  bool continued = false;                    ///< it went on from inserted facts, semi-naively (evaluation again)
  /// Of a recursion with relations that were restricted to what it asks for: which share of the rows that was, more
  /// than expected, when it was given up; a stratum behind went on without restrictions, from what there was.
  std::optional<double> given_up;
  std::uint64_t iterations = 0;
  /// Of a recursion that began on the cpu and went on on a device: how many of the iterations the cpu ran.
  std::optional<std::uint64_t> iterations_before_move;
  std::uint64_t tail_iterations = 0;    ///< those whose new tuples are less than 1% of the result's
  std::uint64_t looped_iterations = 0;  ///< those that a device ran without the host, many in a launch
  std::uint64_t rows_taken_over = 0;    ///< complete results that searches of a device took over from each other
  std::uint64_t search_numbers = 0;     ///< that values got for `search`; 0: it searched values as they are
  double seconds = 0;
  std::vector<phase_statistics> phases;
  std::vector<rule_statistics> rules;
  std::vector<index_statistics> indexes;
  std::vector<size_statistics> sizes;
};

struct relation_statistics {
  std::string name;
  std::uint64_t tuples = 0;
  std::uint64_t bytes = 0;  ///< columns, tuple set and indexes
  /// How its tuples were told from new ones at the end of its stratum: "hash", "bits", "words" or "hisa"; empty: no
  /// stratum extended it, or none had to be told. "factorized": its tuples had no columns then, but were kept as a
  /// graph or rows of bits, or on a device as rows of bits and lists.
  std::string set;
};

/// A file of the program.
struct source_statistics {
  std::string path;
  std::string text;
};

/// What a run took.
struct statistics {
  /// Of the document. Version 1 had no number.
  static constexpr unsigned schema_version = 2;

  outcome_statistics outcome;
  std::string program;                         ///< its file
  std::map<std::string, std::string> options;  ///< as flags name them
  std::map<std::string, std::string> machine;  ///< processor, processors, memory_bytes, system, gpu
  std::vector<span_statistics> spans;
  std::vector<file_statistics> files;
  std::vector<resource_sample> samples;  ///< at most some hundreds, of runs with report files
  std::vector<source_statistics> sources;
  std::uint64_t stratum_count = 0;
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

/// As text of at most 100 columns for people: of each rule the plan of each version that ran, with expected and
/// actual rows beside each step, its time, and what the planner knew (EXPLAIN ANALYZE). Rows are there if
/// run_options::count_rows is on.
[[nodiscard]] GPULOG_API std::string explain(const statistics& figures);

}  // namespace gpulog
