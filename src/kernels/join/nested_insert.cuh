#pragma once

#include <cstdint>

#include "backend/gpu/wave.hpp"
#include "kernels/calibration.hpp"
#include "kernels/join/insert.cuh"
#include "kernels/join/nested.cuh"
#include "kernels/loop/phase_batch.hpp"
#include "kernels/loop/shared_loops.cuh"

/// Nested loops that insert bindings into a tuple set.
namespace gpulog::kernels::gpu {

__device__ inline void add_for_wave(std::uint64_t* sum, std::uint32_t value) {
  const unsigned all = backend::gpu::sum_of_lanes(value);
  if (backend::gpu::lane() == 0 && all != 0) {
    atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(all));
  }
}

/// Runs a thread's outer row. All threads of a wave call this, including threads without a row.
/// @param safe_rows no thread inserts beyond this number of rows
template <class Registers>
__device__ void insert_nested(const nested_body<run_view, set_view>& body, const set_view& set, std::uint64_t& tail,
                              std::uint64_t safe_rows, std::uint64_t row, Registers& registers,
                              batch_outcome& outcome) {
  std::uint32_t candidates = 0;
  std::uint32_t fresh = 0;
  std::uint32_t turns = 0;
  std::uint32_t refused = 0;
  const auto turn = [&] {
    if (++turns > calibration::batch_turns) refused |= batch_outcome::too_many_turns;
    return refused == 0;
  };
  const auto emit = [&] {
    ++candidates;
    if (set.arity == 0) {
      fresh = atomicExch(reinterpret_cast<unsigned long long*>(&tail), 1ULL) == 0 ? 1 : 0;
      return false;  // a nullary relation has only one tuple
    }
    if (*static_cast<volatile std::uint64_t*>(&tail) > safe_rows) {
      refused |= batch_outcome::too_little_room;
      return false;
    }
    const auto value = [&](std::uint32_t c) { return registers.get(body.outputs[c]); };
    if (set.best != nullptr) {
      if (!offer_best(set, value)) return true;
      ++fresh;
      store_tuple(set, backend::gpu::count_up(&tail), value);
      return true;
    }
    if (set.arity > 2) {
      if (insert_row(set, value, [&tail] { return backend::gpu::count_up(&tail); })) ++fresh;
      return true;
    }
    const std::uint64_t key = set_view::packed(set.arity, value);
    if (!insert_packed(set, key)) return true;
    ++fresh;
    const std::uint64_t place = backend::gpu::count_up(&tail);
    store_packed(set, place, key);
    return true;
  };
  if (has_shared_matches(body)) {
    const auto turns_for = [&](std::uint32_t matches) {
      if (backend::gpu::any_lane(matches > calibration::batch_turns * backend::gpu::wave_size)) {
        refused |= batch_outcome::too_many_turns;
        return false;
      }
      turns += (backend::gpu::sum_of_lanes(matches) + backend::gpu::wave_size - 1) / backend::gpu::wave_size + 1;
      if (turns > calibration::batch_turns) refused |= batch_outcome::too_many_turns;
      return backend::gpu::all_lanes(refused == 0);
    };
    const auto go_on = [&] {
      if (body.level_count == 1) return emit();
      bool goes_on = true;
      run_levels(
          body.levels, 1, body.level_count, registers, &outcome.fault, {}, turn, [] {},
          [&] {
            goes_on = emit();
            return goes_on;
          });
      return goes_on && refused == 0;
    };
    shared_loops(body, row, row < body.rows, registers, &outcome.fault, turns_for, go_on);
  } else if (row < body.rows) {
    nested_loops(body, row, registers, &outcome.fault, turn, emit);
  }
  backend::gpu::wave_barrier();
  add_for_wave(&outcome.candidates, candidates);
  add_for_wave(&outcome.fresh, fresh);
  if (refused != 0) atomicOr(&outcome.refused, refused);
}

}  // namespace gpulog::kernels::gpu
