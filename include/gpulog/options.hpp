#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpulog {

/// How a program's text is read.
struct compile_options {
  std::vector<std::string> include_directories;              ///< searched by .include, after the program's own folder
  std::vector<std::string> macros;                           ///< "NAME" or "NAME=VALUE"
  std::vector<std::pair<std::string, std::string>> pragmas;  ///< win over those of the text
  bool warnings = true;
  std::vector<std::string> left_out_warnings;  ///< by their names for --wno; unknown ones have no effect
  unsigned word_size = 32;                     ///< bits of numbers, unsigned numbers and floats: 32 or 64
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

/// How storage `hisa` on a GPU joins three and more atoms; both give the same results.
enum class join_kind : std::uint8_t {
  materialized,  ///< in steps, through temporary tables
  nested,        ///< as nested loops, a thread an outer tuple
};

/// Where something is done that changes no result.
enum class option_mode : std::uint8_t {
  off,        ///< nowhere
  automatic,  ///< where it pays
  on,         ///< wherever it is right
};

/// What a running fixpoint tells, once an iteration.
struct progress {
  std::uint64_t stratum = 0;        ///< from 0
  std::uint64_t stratum_count = 0;  ///< of the program
  std::uint64_t iteration = 0;      ///< of this stratum, from 1
  std::uint64_t tuples = 0;         ///< in the relations of this stratum
  double seconds = 0;               ///< since the stratum began
  std::string_view backend = {};    ///< where it runs
};

/// How a program is run.
struct run_options {
  std::string fact_directory = ".";      ///< or as .pragma "fact-dir" says
  std::string output_directory = ".";    ///< or as .pragma "output-dir" says
  bool output_to_stdout = false;         ///< every .output to standard output, with headers
  bool missing_facts_are_empty = false;  ///< a fact file that does not exist is an empty relation
  unsigned jobs = 1;                     ///< worker threads; 0: as many as there are processors
  backend_kind backend = backend_kind::automatic;
  int device = 0;  ///< which device of the backend, from 0
  /// Where the strata of relations run, by the relations' names, whatever promises to be faster; the last one counts.
  std::vector<std::pair<std::string, backend_kind>> places = {};
  storage_kind storage = storage_kind::automatic;
  /// Libraries of functors: NAME stands for libNAME.so in one of the directories, a text with a slash for that file.
  std::vector<std::string> functor_libraries;    ///< none: "functors"
  std::vector<std::string> functor_directories;  ///< none: "."
  /// Where relative ones of both are looked for after the working directory; empty: nowhere.
  std::string functor_base;
  /// Storage `hisa`, eager buffer management: a buffer that a merge outgrows gets room for full + this factor times
  /// delta, and is kept; 0: exactly what is needed, each time anew.
  double buffer_factor = 8;
  join_kind joins = join_kind::materialized;
  /// Where several atoms restrict a variable, each binding searches the one with the fewest rows (on the CPU).
  bool intersect = true;
  /// A relation whose only rule can't derive a tuple twice, and that no rule asks for membership, has no tuple set.
  bool skip_sets = true;
  /// Relations that no .output and no .printsize depends on are neither loaded nor computed, and stay empty.
  bool skip_unneeded = false;
  /// Joins of two relations whose results repeat are made for one value of the head's first column at a time: without a
  /// tuple set, or in a recursion in addition to what it has found.
  option_mode rows = option_mode::automatic;
  /// Values of recursive aggregates, and of subsumptions like them, are gone on with from the best ones on (CPU).
  bool best_first = true;
  /// Atoms that only say that there is a row above or below a value are conditions on the number of such rows, where no
  /// device takes part.
  bool count_existence = true;
  bool decompose = true;  ///< fixpoints that fall apart by the values of a column are run as one search for each
  /// A relation that a recursion reads only at keys that other relations give is restricted to them inside the
  /// recursion, and computed in full once behind it.
  option_mode demand = option_mode::automatic;
  /// Values that a program only compares are numbered from 0 on while it runs, so that tuples have places in bit
  /// matrices.
  option_mode renumber = option_mode::automatic;
  std::uint64_t memory_limit = 0;                         ///< bytes for relations, indexes and symbols; 0: none
  std::function<void(const progress&)> on_progress = {};  ///< called on the thread that runs
  const std::atomic<bool>* cancelled = nullptr;           ///< once true, the run ends with cancelled_error
};

/// Reads "auto", "cpu", "gpu", or the vendor that this build's devices are of ("cuda", "hip"), which means the same as
/// "gpu"; nothing for other names.
[[nodiscard]] std::optional<backend_kind> backend_from_name(std::string_view name);

/// Reads "auto", "hisa", "hash", "bits" or "words"; nothing for other names.
[[nodiscard]] std::optional<storage_kind> storage_from_name(std::string_view name);

/// Reads "off", "auto" or "on"; nothing for other names.
[[nodiscard]] std::optional<option_mode> mode_from_name(std::string_view name);

/// Reads a number of bytes with an optional suffix K, M, G or T (powers of 1024, either case); nothing for other text
/// and for more than 64 bits.
[[nodiscard]] std::optional<std::uint64_t> bytes_from_text(std::string_view text);

/// The backends of this build, "cpu" first.
[[nodiscard]] std::vector<std::string> built_backends();

/// What devices the backend "gpu" of this build is for, as "CUDA, architectures 80, 90"; empty where there is none.
[[nodiscard]] std::string built_gpu();

/// Version of the library, as "0.1.0".
[[nodiscard]] std::string_view version();

}  // namespace gpulog
