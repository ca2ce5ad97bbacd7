#pragma once

#include <cstdint>

#include "backend/gpu/wave.hpp"
#include "kernels/join/nested.cuh"
#include "kernels/join/wave_share.cuh"

/// A rule version as nested loops, processed by a wave together: each thread looks up its own outer row, and the wave
/// shares the matches of all rows evenly, so that no lane waits for the row with the most matches.
namespace gpulog::kernels::gpu {

/// Returns whether a wave can share the matches of the first level: it has one search, and needs all of its matches.
[[nodiscard]] __device__ inline bool has_shared_matches(const nested_body<run_view, set_view>& body) {
  if (body.level_count == 0 || body.levels[0].choice_count != 0) return false;
  for (std::uint32_t l = 0; l < body.level_count; ++l) {
    if (body.levels[l].first_match_from == 0) return false;
  }
  return true;
}

/// Runs a body that has_shared_matches(); all lanes of a wave call this, including lanes without a row. Calls go_on()
/// for each passing binding of outer row and first level, with the registers of some lane filled, until go_on()
/// returns false for a lane.
/// @param turns called by all lanes with the number of iterations to come; the loops end when turns() returns false
template <class Registers, class Turns, class GoOn>
__device__ void shared_loops(const nested_body<run_view, set_view>& body, std::uint64_t row, bool has_row,
                             Registers& registers, std::uint32_t* fault, const Turns& turns, const GoOn& go_on) {
  const nested_level<run_view, set_view>& level = body.levels[0];
  const auto pass = [&](const device_step<run_view, set_view>* steps, std::uint32_t count) {
    for (std::uint32_t s = 0; s < count; ++s) {
      if (!run_step(steps[s], registers, fault)) return false;
    }
    return true;
  };
  const auto enter = [&](std::uint64_t outer) {
    for (std::uint32_t b = 0; b < body.outer_count; ++b) {
      registers.set(body.outer[b].target, body.outer[b].column[body.first_row + outer]);
    }
    return pass(body.steps, body.step_count);
  };
  const bool passes = has_row && enter(row);
  const auto number = static_cast<std::uint32_t>(row);
  bool goes_on = true;
  for (std::uint32_t r = 0; r < level.run_count; ++r) {
    const run_view& run = level.runs[r];
    row_range found;
    // The registers may hold a different lane's row by now.
    if (passes && (r == 0 || enter(row))) {
      found = level.whole;
      if (level.keys != nullptr) found = run.find([&](std::uint32_t c) { return registers.get(level.keys[c]); });
    }
    if (!goes_on || !turns(found.count)) return;
    share_ranges_of<1>(
        found.first, found.count, [](std::uint32_t position) { return position; },
        [&](bool is_there, std::uint32_t position, unsigned owner) {
          const std::uint32_t outer = backend::gpu::shuffle(number, owner);
          bool is_right = is_there && goes_on && enter(outer);
          for (std::uint32_t b = 0; b < level.binding_count && is_right; ++b) {
            registers.set(level.bindings[b].target, matched_word(level.bindings[b], run, position));
          }
          is_right = is_right && pass(level.steps, level.step_count);
          if (is_right && !go_on()) goes_on = false;
          goes_on = backend::gpu::all_lanes(goes_on);
        });
  }
}

}  // namespace gpulog::kernels::gpu
