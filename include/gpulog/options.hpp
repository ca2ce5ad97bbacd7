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

/// What is asked of a program: the body of a rule, as `reach("a",x), x != 3`.
struct query_text {
  std::string text;            ///< a dot may stand behind it
  std::string name = "query";  ///< the file that diagnostics name
};

/// How a program's text is read.
struct compile_options {
  std::vector<std::string> include_directories = {};  ///< searched by .include, after the program's own folder
  std::vector<std::string> macros = {};               ///< "NAME" or "NAME=VALUE"
  std::vector<std::pair<std::string, std::string>> pragmas = {};  ///< win over those of the text
  bool warnings = true;
  std::vector<std::string> left_out_warnings = {};  ///< by their names for --wno; unknown ones have no effect
  unsigned word_size = 32;                          ///< bits of numbers, unsigned numbers and floats: 32 or 64
  /// Relations that the caller fills: that they have neither rules nor facts is no reason for a warning, and no file
  /// is read for them.
  std::vector<std::string> filled_relations = {};
  /// Each becomes a relation (program::queries()), which engine::write() prints.
  std::vector<query_text> queries = {};
  /// .output and .printsize have no effect, so that only what the queries need is evaluated with the choice
  /// `unneeded-relations`.
  bool only_queries = false;
};

enum class backend_kind : std::uint8_t { automatic, cpu, gpu };

/// How tuple sets are kept; all give the same results.
enum class storage_kind : std::uint8_t {
  automatic,  ///< for each relation what promises most
  hisa,       ///< hash-indexed sorted arrays: new tuples are sorted, deduplicated and merged each iteration
  hash,       ///< open addressing: a tuple is inserted where it is produced
  bits,       ///< as hash, but a bit matrix wherever the values of a relation are known to be small enough for one
  words,      ///< as hash, but a slot for 16 neighbouring values of the last column wherever the values are known
};

/// A choice of how programs are run that changes no result: whether a pass of the planner runs, or what a strategy of
/// the run does.
struct tuning_choice {
  std::string name;
  std::string values;    ///< for people, as "auto, on or off"
  std::string standard;  ///< without another one
  std::string description;
};

/// All of them, in the order in which they act.
[[nodiscard]] GPULOG_API const std::vector<tuning_choice>& tuning_choices();

/// @return what is wrong with a choice, in a sentence; empty where there is such a choice and it may have this value
[[nodiscard]] GPULOG_API std::string tuning_fault(std::string_view name, std::string_view given);

/// What a running fixpoint tells, once an iteration.
struct progress {
  std::uint64_t stratum = 0;        ///< from 0
  std::uint64_t stratum_count = 0;  ///< of the program
  std::uint64_t iteration = 0;      ///< of this stratum, from 1
  std::uint64_t tuples = 0;         ///< in the relations of this stratum
  double seconds = 0;               ///< since the stratum began
  std::string_view backend = {};    ///< where it runs
};

/// A stratum or a rule of a run begins or ends. Of a rule in a loop: with its first iteration, and with the loop.
struct run_event {
  enum class kind : std::uint8_t { stratum_begins, stratum_ends, rule_begins, rule_ends };
  kind what = kind::stratum_begins;
  std::uint64_t stratum = 0;        ///< from 0
  std::uint64_t stratum_count = 0;  ///< of the program
  std::string subject = {};         ///< the relations of the stratum, or the rule
  std::string location = {};        ///< of a rule
  // Of what ends.
  std::uint64_t iterations = 0;
  std::uint64_t candidates = 0;
  std::uint64_t tuples = 0;
  double seconds = 0;
};

/// How a program is run.
struct run_options {
  std::string fact_directory = ".";      ///< or as .pragma "fact-dir" says
  std::string output_directory = ".";    ///< or as .pragma "output-dir" says; empty: no .output is written
  bool output_to_stdout = false;         ///< every .output to standard output, with headers
  bool missing_facts_are_empty = false;  ///< a fact file that does not exist is an empty relation
  unsigned jobs = 1;                     ///< worker threads; 0: as many as there are processors
  backend_kind backend = backend_kind::automatic;
  int device = 0;  ///< which device of the backend, from 0
  /// Where the strata of relations run, by the relations' names, whatever promises to be faster; the last one counts.
  std::vector<std::pair<std::string, backend_kind>> places = {};
  storage_kind storage = storage_kind::automatic;
  /// Libraries of functors: NAME stands for libNAME.so in one of the directories, a text with a slash for that file.
  std::vector<std::string> functor_libraries = {};    ///< none: "functors"
  std::vector<std::string> functor_directories = {};  ///< none: "."
  /// Where relative ones of both are looked for after the working directory; empty: nowhere.
  std::string functor_base = {};
  /// Functors that the caller has, by their names in the program. They are taken before those of libraries.
  std::map<std::string, registered_functor, std::less<>> functors = {};
  /// Values by the names of tuning_choices(), as {{"magic-sets", "off"}}; the others have their standard.
  std::map<std::string, std::string, std::less<>> tuning = {};
  std::uint64_t memory_limit = 0;  ///< bytes for relations, indexes and symbols; 0: none
  /// Files that get to_json(figures()): together with those of .output, or when the run ends without result. They are
  /// begun when the engine is made.
  std::vector<std::string> report_files = {};
  double report_seconds = 0;  ///< they are renewed so often while it runs; 0: not before its end
  /// engine::why() will be asked: all relations are computed, and none is restricted to what others ask for.
  bool proofs = false;
  bool is_watched = false;                              ///< other threads ask engine::now()
  std::function<void(const run_event&)> on_event = {};  ///< called on the thread that runs
  bool count_rows = false;  ///< rows are counted behind each step of each rule; they are with report_files, too
  std::function<void(const progress&)> on_progress = {};  ///< called on the thread that runs
  const std::atomic<bool>* cancelled = nullptr;           ///< once true, the run ends with cancelled_error
};

/// Reads "auto", "cpu", "gpu", or the vendor that this build's devices are of ("cuda", "hip"), which means the same as
/// "gpu"; nothing for other names.
[[nodiscard]] GPULOG_API std::optional<backend_kind> backend_from_name(std::string_view name);

/// Reads "auto", "hisa", "hash", "bits" or "words"; nothing for other names.
[[nodiscard]] GPULOG_API std::optional<storage_kind> storage_from_name(std::string_view name);

/// Reads a number of bytes with an optional suffix K, M, G or T (powers of 1024, either case); nothing for other text
/// and for more than 64 bits.
[[nodiscard]] GPULOG_API std::optional<std::uint64_t> bytes_from_text(std::string_view text);

/// The backends of this build, "cpu" first.
[[nodiscard]] GPULOG_API std::vector<std::string> built_backends();

/// What devices the backend "gpu" of this build is for, as "CUDA, architectures 80, 90"; empty where there is none.
[[nodiscard]] GPULOG_API std::string built_gpu();

/// Version of the library: numbers of the major version, the minor version and the patch, with dots.
[[nodiscard]] GPULOG_API std::string_view version();

}  // namespace gpulog
