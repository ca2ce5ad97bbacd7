#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpulog/export.hpp"
#include "gpulog/registered_functor.hpp"

namespace gpulog {

namespace ranks {
class rank_group;
}

/// A query: the body of a rule, such as `reach("a",x), x != 3`.
struct query_text {
  std::string text;            ///< a final dot is optional
  std::string name = "query";  ///< file name in diagnostics
};

/// Options for reading a program.
struct compile_options {
  std::vector<std::string> include_directories = {};              ///< searched by .include after the program's folder
  std::vector<std::string> macros = {};                           ///< "NAME" or "NAME=VALUE"
  std::vector<std::pair<std::string, std::string>> pragmas = {};  ///< override pragmas of the text
  bool warnings = true;
  std::vector<std::string> left_out_warnings = {};  ///< by name, as for --wno; unknown names have no effect
  unsigned word_size = 32;                          ///< bits of numbers, unsigned numbers and floats: 32 or 64
  /// Relations that the caller fills: gpulog reads no files for these relations, and does not warn if they have neither
  /// rules nor facts.
  std::vector<std::string> filled_relations = {};
  /// Each query becomes a relation (program::queries()), which engine::write() prints.
  std::vector<query_text> queries = {};
  /// Parameters of the .output directives of queries. `framed`: false omits the lines around the rows. `most_rows`: the
  /// number of rows that engine::write() prints of a query; missing: all.
  std::map<std::string, std::string> query_parameters = {{"IO", "stdout"}, {"headers", "true"}};
  /// Ignores .output and .printsize, so that with the tuning choice `unneeded-relations` only relations needed by
  /// queries are evaluated.
  bool only_queries = false;
  /// Whether a program without .output and .printsize gets the warning no-output. Its relations can be read through an
  /// engine, too.
  bool expects_output = false;
  /// Whether items that are valid but probably not intended get warnings: unread-relation, never-fires, cross-product
  /// and repeated-rule.
  bool lint = false;
  /// Whether each use of what Soufflé does not know gets the warning `portable`.
  bool portable = false;
};

enum class backend_kind : std::uint8_t { automatic, cpu, gpu };

/// How tuple sets are stored; the results are the same.
enum class storage_kind : std::uint8_t {
  automatic,  ///< the most promising kind for each relation
  hisa,       ///< hash-indexed sorted arrays: sorts, deduplicates and merges new tuples in each iteration
  hash,       ///< hash tables with open addressing: inserts each tuple where it is produced
  bits,       ///< like hash, with bit matrices for relations whose values are known to be small
  words,      ///< like hash, with one slot per 16 adjacent values of the last column for relations with known values
};

/// A tuning choice, which changes no result: enables a pass of the planner, or configures a strategy.
struct tuning_choice {
  std::string name;
  std::string values;    ///< for users, such as "auto, on or off"
  std::string standard;  ///< the default
  std::string description;
};

/// Returns all tuning choices, in the order in which they act.
[[nodiscard]] GPULOG_API const std::vector<tuning_choice>& tuning_choices();

/// Returns what is wrong with a tuning choice, as a sentence, or an empty text for a valid name and value.
[[nodiscard]] GPULOG_API std::string tuning_fault(std::string_view name, std::string_view given);

/// Progress of a running fixpoint, reported once per iteration.
struct progress {
  std::uint64_t stratum = 0;        ///< 0-based
  std::uint64_t stratum_count = 0;  ///< number of strata in the program
  std::uint64_t iteration = 0;      ///< of this stratum, 1-based
  std::uint64_t tuples = 0;         ///< in the relations of this stratum
  double seconds = 0;               ///< since the stratum started
  std::string_view backend = {};    ///< backend that runs the stratum
};

/// The start or end of a stratum or a rule. A rule in a loop starts with its first iteration and ends with the loop.
struct run_event {
  enum class kind : std::uint8_t { stratum_begins, stratum_ends, rule_begins, rule_ends };
  kind what = kind::stratum_begins;
  std::uint64_t stratum = 0;        ///< 0-based
  std::uint64_t stratum_count = 0;  ///< number of strata in the program
  std::string subject = {};         ///< the relations of the stratum, or the rule
  std::string location = {};        ///< of a rule
  // Only for events of kind *_ends.
  std::uint64_t iterations = 0;
  std::uint64_t candidates = 0;
  std::uint64_t tuples = 0;
  double seconds = 0;
};

/// Options for running a program.
struct run_options {
  std::string fact_directory = ".";      ///< overridden by .pragma "fact-dir"
  std::string output_directory = ".";    ///< overridden by .pragma "output-dir"; empty: writes no .output
  bool output_to_stdout = false;         ///< prints every .output to standard output, with headers
  bool missing_facts_are_empty = false;  ///< treats missing fact files as empty relations
  unsigned jobs = 1;                     ///< worker threads; 0: one per processor
  backend_kind backend = backend_kind::automatic;
  int device = 0;  ///< number of the device, 0-based
  /// Forces the strata of relations (by name) onto a backend; the last entry wins.
  std::vector<std::pair<std::string, backend_kind>> places = {};
  storage_kind storage = storage_kind::automatic;
  /// Libraries of functors: NAME means libNAME.so in one of the directories; a text with a slash is a path.
  std::vector<std::string> functor_libraries = {};    ///< empty: "functors"
  std::vector<std::string> functor_directories = {};  ///< empty: "."
  /// Base directory for relative paths of both, searched after the working directory; empty: none.
  std::string functor_base = {};
  /// Functors of the caller, by name in the program. Precede functors of libraries.
  std::map<std::string, registered_functor, std::less<>> functors = {};
  /// Values by names from tuning_choices(), such as {{"magic-sets", "off"}}; missing choices have their default.
  std::map<std::string, std::string, std::less<>> tuning = {};
  std::uint64_t memory_limit = 0;  ///< in bytes, for relations, indexes and symbols; 0: no limit
  /// Folder for large relations once half of the memory limit is used, in a file without a name. Without a limit, the
  /// limit is the memory of the machine. Empty: no folder.
  std::string spill_directory = {};
  /// Files that receive to_json(figures()), together with the .output files or when the run ends without a result.
  /// Created with the engine.
  std::vector<std::string> report_files = {};
  /// File with the results of engine::run(). The next run of the program computes what changed fact files change, with
  /// the results of a run from scratch. Empty: none.
  std::string state_file = {};
  bool state_is_required = false;  ///< a state file that exists but cannot be used is an error instead of a warning
  /// Folder for the tuples of each .output that are new or lost since the stored results, as RELATION.added.csv and
  /// RELATION.removed.csv. Requires `state_file`. Empty: none.
  std::string changes_directory = {};
  double report_seconds = 0;  ///< interval for updates of report files during the run; 0: only at the end
  /// Enables engine::why(): evaluates all relations in full, without restricting them to needed tuples.
  bool proofs = false;
  /// Enables engine::changes(): keeps the results before the last evaluation.
  bool changes = false;
  bool is_watched = false;                              ///< enables engine::now() from further threads
  std::function<void(const run_event&)> on_event = {};  ///< called on the running thread
  /// Called on the running thread before the first result is printed on standard output.
  std::function<void()> before_printing = {};
  bool count_rows = false;  ///< counts rows after each step of each rule; implied by report_files
  std::function<void(const progress&)> on_progress = {};  ///< called on the running thread
  ranks::rank_group* ranks = nullptr;                     ///< for the command: processes that work for the run
  /// For the command: with the tuning choice `unneeded-relations`, only files of outputs are used after engine::run().
  bool only_outputs = false;
  const std::atomic<bool>* cancelled = nullptr;  ///< once true, the run ends with cancelled_error
};

/// Parses "auto", "cpu", "gpu", or the vendor of this build's devices ("cuda", "hip"), which means "gpu"; returns
/// nothing for any different name.
[[nodiscard]] GPULOG_API std::optional<backend_kind> backend_from_name(std::string_view name);

/// Parses "auto", "hisa", "hash", "bits" or "words"; returns nothing for any different name.
[[nodiscard]] GPULOG_API std::optional<storage_kind> storage_from_name(std::string_view name);

/// Parses a number of bytes with an optional suffix K, M, G or T (powers of 1024, upper or lower case); returns nothing
/// for invalid text and for numbers beyond 64 bits.
[[nodiscard]] GPULOG_API std::optional<std::uint64_t> bytes_from_text(std::string_view text);

/// Returns the backends of this build, "cpu" first.
[[nodiscard]] GPULOG_API std::vector<std::string> built_backends();

/// Describes the devices supported by backend "gpu", such as "CUDA, architectures 80, 90"; empty without GPU support.
[[nodiscard]] GPULOG_API std::string built_gpu();

/// Returns the version of the library as "major.minor.patch".
[[nodiscard]] GPULOG_API std::string_view version();

}  // namespace gpulog
