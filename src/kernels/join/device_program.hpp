#pragma once

#include <cstdint>

#include "backend/gpu/device.hpp"
#include "kernels/join/device_step.hpp"
#include "kernels/join/nested_program.hpp"
#include "storage/relation/views.hpp"

/// A segment of a pipeline as a kernel sees it: flat arrays in device memory, addressed by offsets.
namespace gpulog::kernels::gpu {

using storage::mix;
using storage::row_range;
using storage::scale;
using storage::gpu::append_counter;
using storage::gpu::run_view;
using storage::gpu::set_view;

/// Most candidates for which a block looks up the rows that they belong to together; a thread takes every 256th.
constexpr std::uint32_t tile_candidates = 1024;

using hash_step = device_step<run_view, set_view>;

/// Where the tuples of a last segment go.
struct device_target {
  set_view set;
  std::uint32_t arity = 0;
};

enum class sink : std::uint8_t {
  table,   ///< rows of registers for the next segment, or candidates wider than a slot
  packed,  ///< the head's tuple set, arity 1 or 2
  best,    ///< the best row of a key
  rows,    ///< the head's columns: it has no tuple set
  nullary
};

/// One of several searches for the same value (kernels::search_choice).
struct device_choice {
  const run_view* runs = nullptr;
  std::uint32_t run_count = 0;
  const word* const* keys = nullptr;  ///< one column a key word; null: a constant
  const word* constants = nullptr;    ///< by key word
  device_binding bound;
  const hash_step* checks = nullptr;  ///< that the value is in the relations of the other searches
  std::uint32_t check_count = 0;
};

struct expand_arguments {
  // What there is to expand: rows of the input, their number of matches summed up (null: every row once), and the
  // ranges in each run.
  const std::uint64_t* offsets = nullptr;
  std::uint64_t rows = 0;
  std::uint64_t first_row = 0;  ///< of the carried columns
  /// Of rows that need one match only, each is one candidate (no offsets): their numbers of matches. Null: all matches
  /// are needed.
  const std::uint64_t* degrees = nullptr;
  std::uint64_t* looked_at = nullptr;  ///< counts matches of such rows; 0 between kernels
  /// Of a first match of several atoms: those behind the first.
  const nested_level<run_view, set_view>* inner = nullptr;
  std::uint32_t inner_count = 0;
  /// Candidates [first, last), which there is room for. all_candidates: what offsets sum up to, if there is room for
  /// that; otherwise the kernel does nothing and reports so. Of sink::rows there may be too little room for [first,
  /// last): then nothing counts as done, and the report has the rows that there would be.
  std::uint64_t first_candidate = 0;
  std::uint64_t last_candidate = 0;
  std::uint64_t room = 0;             ///< rows that the target holds
  const row_range* ranges = nullptr;  ///< [run][row]
  const run_view* runs = nullptr;
  std::uint32_t run_count = 0;  ///< of choices: of the one that has most
  /// Of a match with several searches, and for each row the number of its own one; null: there is one search.
  const device_choice* choices = nullptr;
  std::uint32_t choice_count = 0;
  const std::uint8_t* chosen = nullptr;
  const device_binding* carried = nullptr;
  std::uint32_t carried_count = 0;
  const device_binding* matched = nullptr;
  std::uint32_t matched_count = 0;
  const hash_step* steps = nullptr;
  std::uint32_t step_count = 0;
  bool asks_kept_rows = false;  ///< whether a step does
  const word* constants = nullptr;
  std::uint32_t constant_count = 0;
  std::uint32_t slot_count = 0;
  // The head, or the registers that the next segment reads.
  const register_number* outputs = nullptr;
  std::uint32_t output_count = 0;
  word* const* output_columns = nullptr;
  device_target target;
  append_counter* counter = nullptr;  ///< of the target's rows, or of the output columns'
  std::uint32_t* fault = nullptr;
  std::uint32_t* finished_blocks = nullptr;
  backend::gpu::kernel_report* report = nullptr;
  std::uint64_t report_number = 0;
};

constexpr std::uint64_t all_candidates = UINT64_MAX;

/// Which matches a row has: all of one search, all of the search that it chose, or the first one that passes, of an
/// atom or of several. The commonest kernel asks no kept rows: their call makes it slower (Java points-to by 3 %).
enum class matching : std::uint8_t { all, all_asking_kept_rows, chosen, first, first_of_several };

}  // namespace gpulog::kernels::gpu
