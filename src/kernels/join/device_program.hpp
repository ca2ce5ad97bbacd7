#pragma once

#include <cstdint>

#include "backend/gpu/device.hpp"
#include "kernels/join/device_step.hpp"
#include "kernels/join/nested_program.hpp"
#include "storage/relation/views.hpp"

/// A segment of a pipeline in the form for kernels: flat arrays in device memory.
namespace gpulog::kernels::gpu {

using storage::mix;
using storage::row_range;
using storage::scale;
using storage::gpu::append_counter;
using storage::gpu::run_view;
using storage::gpu::set_view;

/// Candidates per tile: a block finds the rows of a tile's candidates together; a thread takes every 256th candidate.
constexpr std::uint32_t tile_candidates = 1024;

using hash_step = device_step<run_view, set_view>;

/// The output of a last segment.
struct device_target {
  set_view set;
  std::uint32_t arity = 0;
};

enum class sink : std::uint8_t {
  table,   ///< rows of registers for the next segment
  packed,  ///< the head's tuple set, for arity 1 or 2
  wide,    ///< the head's tuple set, for larger arity
  best,    ///< the best row per key
  rows,    ///< the head's columns, for a head without a tuple set
  nullary
};

/// One of several alternative searches for a value (kernels::search_choice).
struct device_choice {
  const run_view* runs = nullptr;
  std::uint32_t run_count = 0;
  const word* const* keys = nullptr;  ///< one column per key word; null: a constant
  const word* constants = nullptr;    ///< by key word
  device_binding bound;
  const hash_step* checks = nullptr;  ///< semi-joins with the relations of the remaining searches
  std::uint32_t check_count = 0;
};

struct expand_arguments {
  // The input: rows, prefix sums of their degrees (null: each row is one candidate), and the range of matches in each
  // run.
  const std::uint64_t* offsets = nullptr;
  std::uint64_t rows = 0;
  std::uint64_t first_row = 0;  ///< first row of the carried columns
  /// Degrees of rows that need only one match; each row is one candidate, without offsets. Null: all matches are
  /// needed.
  const std::uint64_t* degrees = nullptr;
  std::uint64_t* looked_at = nullptr;  ///< counts examined matches of rows that need one match; 0 between kernels
  /// For a first match of several atoms: all atoms after the first.
  const nested_level<run_view, set_view>* inner = nullptr;
  std::uint32_t inner_count = 0;
  /// The kernel runs candidates [first, last), for which the target has space. last = all_candidates: all candidates,
  /// if the target has space; otherwise the kernel does no work and reports the refusal. sink::rows may lack space for
  /// [first, last): then the kernel has no effect, and the report holds the number of rows needed.
  std::uint64_t first_candidate = 0;
  std::uint64_t last_candidate = 0;
  std::uint64_t room = 0;             ///< capacity of the target in rows
  const row_range* ranges = nullptr;  ///< [run][row]
  const run_view* runs = nullptr;
  std::uint32_t run_count = 0;  ///< with choices: the maximum over all choices
  /// Alternative searches of a match, and the chosen search per row; null: the match has one search.
  const device_choice* choices = nullptr;
  std::uint32_t choice_count = 0;
  const std::uint8_t* chosen = nullptr;
  const device_binding* carried = nullptr;
  std::uint32_t carried_count = 0;
  const device_binding* matched = nullptr;
  std::uint32_t matched_count = 0;
  const hash_step* steps = nullptr;
  std::uint32_t step_count = 0;
  bool asks_kept_rows = false;  ///< whether a step looks up tuples in factorized rows
  const word* constants = nullptr;
  std::uint32_t constant_count = 0;
  std::uint32_t slot_count = 0;
  // The head, or the registers that the next segment reads.
  const register_number* outputs = nullptr;
  std::uint32_t output_count = 0;
  word* const* output_columns = nullptr;
  device_target target;
  append_counter* counter = nullptr;  ///< counter of the target's rows, or of the output rows
  std::uint32_t* fault = nullptr;
  std::uint32_t* finished_blocks = nullptr;
  backend::gpu::kernel_report* report = nullptr;
  std::uint64_t report_number = 0;
};

constexpr std::uint64_t all_candidates = UINT64_MAX;

/// Which matches of a row to use: all matches of the single search, all matches of the chosen search, or the first
/// match that passes, of one atom or of several. The most common kernel excludes lookups in factorized rows, whose call
/// slows down the kernel (Java points-to by 3 %).
enum class matching : std::uint8_t { all, all_asking_kept_rows, chosen, first, first_of_several };

}  // namespace gpulog::kernels::gpu
