#pragma once

#include <cstdint>

#include "kernels/join/nested_program.hpp"
#include "kernels/join/steps.cuh"

/// A rule version as nested loops: a thread takes an outer row through all atoms, innermost last, without a table of
/// bindings. The threads of a wave wait for the thread with the most matches (article, section 5.2, figure 4).
namespace gpulog::kernels::gpu {

using storage::gpu::hisa_run_view;
using storage::gpu::run_view;

/// Returns a word of the matching row at a position of a run.
__device__ inline word matched_word(const device_binding& bound, const run_view& run, std::uint64_t at) {
  const word* const column = bound.column != nullptr ? bound.column : run.stored + bound.stored * run.rows;
  return column[at];
}
__device__ inline word matched_word(const device_binding& bound, const hisa_run_view& run, std::uint64_t at) {
  return bound.column[run.positions == nullptr ? at : run.positions[at]];
}

/// Returns whether the registers pass all steps.
template <class Step, class Registers>
__device__ bool passes_steps(const Step* steps, std::uint32_t count, Registers& registers, std::uint32_t* fault) {
  for (std::uint32_t s = 0; s < count; ++s) {
    if (!run_step(steps[s], registers, fault)) return false;
  }
  return true;
}

/// Returns the search with the fewest rows.
template <class Run, class Set, class Registers>
__device__ std::uint32_t fewest_rows(const nested_level<Run, Set>& level, const Registers& registers) {
  std::uint64_t fewest = UINT64_MAX;
  std::uint32_t own = 0;
  for (std::uint32_t number = 0; number < level.choice_count; ++number) {
    const nested_choice<Run, Set>& choice = level.choices[number];
    std::uint64_t sum = 0;
    for (std::uint32_t r = 0; r < choice.run_count; ++r) {
      sum += choice.runs[r].find([&](std::uint32_t c) { return registers.get(choice.keys[c]); }).count;
    }
    if (sum >= fewest) continue;
    fewest = sum;
    own = number;
  }
  return own;
}

/// A thread's share of the innermost level: every stride-th row, starting at `first`.
struct level_share {
  std::uint32_t first = 0;
  std::uint32_t stride = 1;
};

/// Calls emit() for each binding that passes all levels from level `first` on, with the registers filled, until emit()
/// returns false.
/// @param turn called once per iteration of any loop; the loops end when turn() returns false
/// @param look called for each row of the innermost level
template <class Run, class Set, class Registers, class Turn, class Look, class Emit>
__device__ void run_levels(const nested_level<Run, Set>* levels, std::uint32_t first, std::uint32_t level_count,
                           Registers& registers, std::uint32_t* fault, level_share share, const Turn& turn,
                           const Look& look, const Emit& emit) {
  struct loop {
    std::uint32_t next_run = 0;
    std::uint32_t at = 0;
    std::uint32_t end = 0;
    std::uint32_t choice = 0;
  };
  loop loops[most_levels];
  std::uint32_t depth = first;
  while (turn()) {
    const nested_level<Run, Set>& level = levels[depth];
    const bool is_innermost = depth + 1 == level_count;
    loop& here = loops[depth];
    if (level.choice_count != 0 && here.next_run == 0) here.choice = fewest_rows(level, registers);
    const nested_choice<Run, Set>* const own = level.choice_count == 0 ? nullptr : level.choices + here.choice;
    const Run* const runs = own == nullptr ? level.runs : own->runs;
    if (here.at >= here.end) {
      if (here.next_run >= (own == nullptr ? level.run_count : own->run_count)) {
        if (depth == first) return;
        --depth;
        continue;
      }
      row_range range = level.whole;
      const register_number* const keys = own == nullptr ? level.keys : own->keys;
      if (keys != nullptr) {
        range = runs[here.next_run].find([&](std::uint32_t c) { return registers.get(keys[c]); });
      }
      ++here.next_run;
      here.at = range.first + (is_innermost ? share.first : 0);
      here.end = range.first + range.count;
      continue;
    }
    const Run& run = runs[here.next_run - 1];
    for (std::uint32_t b = 0; b < level.binding_count; ++b) {
      registers.set(level.bindings[b].target, matched_word(level.bindings[b], run, here.at));
    }
    if (own != nullptr) registers.set(own->bound.target, matched_word(own->bound, run, here.at));
    here.at += is_innermost ? share.stride : 1;
    if (is_innermost) look();
    if (own != nullptr && !passes_steps(own->checks, own->check_count, registers, fault)) continue;
    if (!passes_steps(level.steps, level.step_count, registers, fault)) continue;
    for (std::uint32_t asked = level.first_match_from; asked <= depth; ++asked) {
      loops[asked] = {UINT32_MAX, 0, 0, loops[asked].choice};
    }
    if (!is_innermost) {
      loops[++depth] = loop();
    } else if (!emit()) {
      return;
    }
  }
}

/// Calls emit() for each passing binding of an outer row, with the registers filled, until emit() returns false.
/// @param turn called once per iteration of any loop; the loops end when turn() returns false
template <class Run, class Set, class Registers, class Turn, class Emit>
__device__ void nested_loops(const nested_body<Run, Set>& body, std::uint64_t row, Registers& registers,
                             std::uint32_t* fault, const Turn& turn, const Emit& emit) {
  for (std::uint32_t b = 0; b < body.outer_count; ++b) {
    registers.set(body.outer[b].target, body.outer[b].column[body.first_row + row]);
  }
  if (!passes_steps(body.steps, body.step_count, registers, fault)) return;
  if (body.level_count == 0) {
    emit();
    return;
  }
  run_levels(
      body.levels, 0, body.level_count, registers, fault, {}, turn, [] {}, emit);
}

}  // namespace gpulog::kernels::gpu
