#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gpulog/export.hpp"

namespace gpulog {

/// Time of a phase of the work (join, deduplicate, merge, index, ...); phases depend on the storage kind.
struct phase_statistics {
  std::string name;
  double seconds = 0;
};

/// A part of a run; times are relative to the start of reading the program.
struct span_statistics {
  std::string name;     ///< compile, restore, load, measure, plan, encode, device start, take over, evaluate, write
  std::string subject;  ///< a file; mostly empty
  double begin = 0;
  double seconds = 0;  ///< until now if the part has not ended
  bool is_complete = true;
};

/// A file of facts or results.
struct file_statistics {
  std::string relation;
  std::string file;
  bool is_output = false;
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;  ///< size of the file; 0 if unknown
  double seconds = 0;
};

/// Consecutive iterations of a loop. Loops with more than 1,000 iterations have merged entries.
struct iteration_statistics {
  std::uint64_t iterations = 0;
  std::uint64_t delta = 0;  ///< tuples found by these iterations
  double seconds = 0;
};

/// The state of the process at a moment.
struct resource_sample {
  double seconds = 0;                ///< since the start of reading the program
  double processor_seconds = 0;      ///< of all threads, up to this moment
  std::uint64_t process_bytes = 0;   ///< resident memory
  std::uint64_t relation_bytes = 0;  ///< relations, indexes and symbols
};

/// What a run is doing, or was doing when it ended.
struct run_step {
  std::string phase;  ///< as in span_statistics::name
  std::string doing;  ///< work on a relation, such as "extending"; empty: no long operation
  std::string relation;
  std::string file;
  std::optional<std::uint64_t> stratum;  ///< 0-based
  std::uint64_t stratum_count = 0;
  std::string relations;        ///< of the stratum
  std::string backend;          ///< backend that runs the stratum; empty if unknown
  std::uint64_t iteration = 0;  ///< of the loop, 1-based; 0: no loop
  std::string rule;
  std::string location;
  double seconds = 0;            ///< of this step
  double run_seconds = 0;        ///< since the start of reading the program
  std::uint64_t rows_done = 0;   ///< processed rows of the rule's first atom
  std::uint64_t rows = 0;        ///< 0: unknown
  std::uint64_t candidates = 0;  ///< of the rule so far
  double expected_candidates = 0;
  std::uint64_t relation_bytes = 0;  ///< allocated for relations, indexes and symbols
  std::uint64_t files_done = 0;
  std::uint64_t files = 0;
  std::uint64_t loaded_tuples = 0;
  std::uint64_t loaded_bytes = 0;
  double load_seconds = 0;
};

/// Describes in one line where a run is, for messages.
[[nodiscard]] GPULOG_API std::string to_text(const run_step& step);

/// How a run ended.
struct outcome_statistics {
  std::string state = "unfinished";  ///< complete, interrupted, failed, or unfinished
  std::string message;               ///< why the run is not complete
  std::optional<run_step> step;      ///< for an incomplete run: the last step
};

/// A step of a rule's plan.
struct operator_statistics {
  std::string text;    ///< as in --show transformed-ram
  unsigned depth = 0;  ///< number of enclosing loops
  bool reads = false;  ///< whether the step is an atom that reads rows, not an existence test
  /// Rows that the planner expected after the step in one run; nothing inside aggregates.
  std::optional<double> expected;
  /// Rows after the step in the counted runs (rule_statistics::counted_runs): for an atom the rows read, for a test the
  /// rows passed. Nothing without counted runs, and for some tests on a device.
  std::optional<std::uint64_t> rows;
  std::optional<std::uint64_t> passed_on;  ///< for an atom: rows that passed the following tests up to the next atom
};

/// A plan of a version before its joins were reordered at run time.
struct earlier_plan {
  std::vector<std::string> plan;  ///< as rule_statistics::plan
  std::uint64_t runs = 0;         ///< with this plan; 0: the order changed before the first run
  std::uint64_t bindings = 0;     ///< rows that its joins made
  double seconds = 0;
};

/// A semi-naive version of a rule.
struct rule_statistics {
  std::string rule;              ///< as written
  std::string location;          ///< file and lines
  int delta_atom = -1;           ///< 0-based body atom that reads only new tuples; -1: none
  std::uint64_t runs = 0;        ///< number of iterations that ran the version
  std::uint64_t candidates = 0;  ///< derived head tuples, including duplicates
  std::uint64_t tuples = 0;      ///< new tuples among the candidates
  double seconds = 0;
  std::uint64_t row_wise_runs = 0;  ///< runs that evaluated row by row
  std::uint64_t counted_runs = 0;   ///< runs whose rows are in `operators`
  std::vector<std::string> plan;    ///< one operator per entry, outermost loop first; numbers after ~ are estimates
  std::vector<operator_statistics> operators;  ///< the same steps, with row counts
  std::string order;                           ///< reason for the order of the atoms
  std::uint64_t bindings = 0;                  ///< rows that the joins made, with all plans
  /// Plans before the joins were reordered at run time, the first plan first.
  std::vector<earlier_plan> earlier_plans;
  /// How the version ran: "pipelines", which counts rows by operator; or "search", "search-over-numbers",
  /// "row-wise-evaluation", "subsumption" or the name of a device, which count rows in some runs at most. Later
  /// releases may add names.
  std::string strategy;
  double index_seconds = 0;  ///< time for indexes that this version was the first to need; not included in `seconds`
  /// Whether a count or sum overflowed the word size and wrapped around.
  bool wraps_around = false;
};

/// An index updated by a stratum.
struct index_statistics {
  std::size_t number = 0;  ///< as in the plans of the rules
  std::string relation;
  std::vector<std::string> columns;  ///< sort columns, key first
  std::size_t key_columns = 0;       ///< columns of the longest searched prefix
  std::size_t rules = 0;             ///< rules of the program that search the index
  std::size_t rule = 0;              ///< number of the first rule of the stratum that needs the index
  std::uint64_t refreshes = 0;       ///< number of updates
  std::optional<double> seconds;     ///< nothing if a device measures all indexes of a stratum together
  std::uint64_t bytes = 0;           ///< at the end of the stratum
};

/// What the planner knew about a relation that a stratum reads or extends.
struct size_statistics {
  std::string relation;
  double planned = 0;        ///< tuples
  bool was_counted = false;  ///< false: estimated
  /// Size known before the stratum ran, if its joins were reordered then.
  std::optional<double> known_later;
};

struct stratum_statistics {
  std::vector<std::string> relations;
  bool recursive = false;
  std::string backend;  ///< backend that ran the stratum; for relations without rules: that loaded the facts
  std::string reason;   ///< why this backend, or why the cpu ran a part; empty if there was no choice
  /// Strategies for the part before the loop and for the loop: "versions" or "row-wise-evaluation", then "loop",
  /// "search" (one search per value that the rules pass through), "search-over-numbers", "row-takeover" or
  /// "condensation". Later releases may add names.
  std::vector<std::string> strategies;
  bool is_complete = true;                   ///< false: still running, or the run failed here
  double begin = 0;                          ///< since the start of reading the program
  std::vector<iteration_statistics> deltas;  ///< for a loop; empty if iterations are not measured separately
  /// Whether the stratum continued semi-naively from inserted facts (evaluation again).
  bool continued = false;
  std::uint64_t iterations = 0;
  /// For a recursion that moved from the cpu to a device: number of iterations on the cpu.
  std::optional<std::uint64_t> iterations_before_move;
  std::uint64_t tail_iterations = 0;    ///< iterations with fewer new tuples than 1% of the result
  std::uint64_t looped_iterations = 0;  ///< iterations that a device ran without the host, many per launch
  std::uint64_t rows_taken_over = 0;    ///< complete results that searches on a device took over from each other
  std::uint64_t search_numbers = 0;     ///< numbers assigned to values for `search`; 0: searched the values directly
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
  /// How duplicates were detected at the end of the stratum: "hash", "bits", "words" or "hisa"; empty: no stratum
  /// extended the relation, or duplicates were impossible. "factorized": the tuples had no columns but were stored as a
  /// graph or as rows of bits, on a device as rows of bits and lists.
  std::string set;
};

/// A source file of the program.
struct source_statistics {
  std::string path;
  std::string text;
};

/// The processes of a run, and what rank 0 exchanged with the other ranks.
struct rank_statistics {
  unsigned count = 1;
  std::uint64_t sent_bytes = 0;
  std::uint64_t received_bytes = 0;
  double waiting_seconds = 0;
};

/// Figures of a run.
struct statistics {
  /// Version of the JSON document. Version 1 had no number.
  static constexpr unsigned schema_version = 2;

  outcome_statistics outcome;
  std::string program;                         ///< file name
  std::map<std::string, std::string> options;  ///< by flag name
  std::map<std::string, std::string> machine;  ///< processor, processors, memory_bytes, system, gpu
  std::vector<span_statistics> spans;
  std::vector<file_statistics> files;
  std::vector<resource_sample> samples;  ///< at most a few hundred, for runs with report files
  std::vector<source_statistics> sources;
  std::uint64_t stratum_count = 0;
  std::string fallback_reason;  ///< why the program ran on the cpu although a device is available; mostly empty
  std::string backend;
  std::string storage;
  unsigned jobs = 1;
  unsigned word_size = 32;        ///< in bits
  std::uint64_t wide_values = 0;  ///< in 64-bit programs: number of distinct values in the value table (docs/adr/0013)
  double compile_seconds = 0;     ///< from text to plan
  double load_seconds = 0;        ///< fact files
  double evaluate_seconds = 0;    ///< all strata
  double write_seconds = 0;       ///< output files
  double total_seconds = 0;       ///< sum of the above
  std::uint64_t loaded_tuples = 0;
  std::uint64_t written_tuples = 0;
  std::uint64_t peak_relation_bytes = 0;  ///< peak memory of relations and indexes
  std::uint64_t peak_spilled_bytes = 0;   ///< peak of relations and indexes in run_options::spill_directory
  std::uint64_t peak_process_bytes = 0;   ///< peak resident memory of the process, as reported by the system
  rank_statistics ranks;
  std::vector<std::string> dense_columns;      ///< columns encoded as consecutive numbers, as "relation.attribute"
  std::uint64_t reordered_versions = 0;        ///< rule versions whose joins were reordered at run time
  std::map<std::string, double> pass_seconds;  ///< planner time by pass; included in evaluate_seconds
  std::vector<stratum_statistics> strata;
  std::vector<relation_statistics> relations;
};

/// Returns a JSON document with a final newline; keys are the names of the members.
[[nodiscard]] GPULOG_API std::string to_json(const statistics& figures);

/// Returns a report for users of at most 100 columns: for each rule the plan of each version that ran, with expected
/// and actual rows per step, its time, and the planner's estimates (EXPLAIN ANALYZE). Actual rows require
/// run_options::count_rows.
[[nodiscard]] GPULOG_API std::string explain(const statistics& figures);

}  // namespace gpulog
