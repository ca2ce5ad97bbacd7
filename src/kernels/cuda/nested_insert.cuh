#pragma once

#include <cstdint>

#include "kernels/cuda/insert.cuh"
#include "kernels/cuda/nested.cuh"
#include "kernels/cuda/phase_batch.hpp"
#include "kernels/cuda/shared_loops.cuh"

/// Nested loops whose bindings go into a tuple set of one or two words.
namespace gpulog::kernels::cuda {

/// A row behind the tail, for each thread that is here; they take theirs with one atomic.
__device__ inline std::uint64_t take_row(std::uint64_t* tail) {
  const unsigned together = __activemask();
  const unsigned lane = threadIdx.x & 31;
  const int leader = __ffs(static_cast<int>(together)) - 1;
  unsigned long long base = 0;
  if (lane == static_cast<unsigned>(leader)) {
    base = atomicAdd(reinterpret_cast<unsigned long long*>(tail), static_cast<unsigned long long>(__popc(together)));
  }
  base = __shfl_sync(together, base, leader);
  return base + static_cast<unsigned>(__popc(together & ((1U << lane) - 1)));
}

__device__ inline void add_for_warp(std::uint64_t* sum, std::uint32_t value) {
  const unsigned all = __reduce_add_sync(0xffffffffU, value);
  if ((threadIdx.x & 31) == 0 && all != 0) {
    atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(all));
  }
}

/// A thread's outer row; all threads of a warp call it, those behind the last row too.
/// @param safe_rows nobody inserts when there are more
template <class Registers>
__device__ void insert_nested(const nested_body<run_view, set_view>& body, const set_view& set, std::uint64_t& tail,
                              std::uint64_t safe_rows, std::uint64_t row, Registers& registers,
                              batch_outcome& outcome) {
  std::uint32_t candidates = 0;
  std::uint32_t fresh = 0;
  std::uint32_t turns = 0;
  std::uint32_t refused = 0;
  const auto turn = [&] {
    if (++turns > batch_turns) refused |= batch_outcome::too_many_turns;
    return refused == 0;
  };
  const auto emit = [&] {
    ++candidates;
    if (set.arity == 0) {
      fresh = atomicExch(reinterpret_cast<unsigned long long*>(&tail), 1ULL) == 0 ? 1 : 0;
      return false;  // there is no other tuple
    }
    if (*static_cast<volatile std::uint64_t*>(&tail) > safe_rows) {
      refused |= batch_outcome::too_little_room;
      return false;
    }
    const auto value = [&](std::uint32_t c) { return registers.get(body.outputs[c]); };
    if (set.best != nullptr) {
      if (!offer_best(set, value)) return true;
      ++fresh;
      store_tuple(set, take_row(&tail), value);
      return true;
    }
    const std::uint64_t key = set_view::packed(set.arity, value);
    if (!insert_packed(set, key)) return true;
    ++fresh;
    const std::uint64_t place = take_row(&tail);
    store_packed(set, place, key);
    return true;
  };
  if (body.level_count == 1) {
    const auto turns_for = [&](std::uint32_t matches) {
      if (__any_sync(0xffffffffU, matches > batch_turns * 32)) {
        refused |= batch_outcome::too_many_turns;
        return false;
      }
      turns += (__reduce_add_sync(0xffffffffU, matches) + 31) / 32 + 1;
      if (turns > batch_turns) refused |= batch_outcome::too_many_turns;
      return __all_sync(0xffffffffU, refused == 0) != 0;
    };
    shared_loops(body, row, row < body.rows, registers, &outcome.fault, turns_for, emit);
  } else if (row < body.rows) {
    nested_loops(body, row, registers, &outcome.fault, turn, emit);
  }
  __syncwarp();
  add_for_warp(&outcome.candidates, candidates);
  add_for_warp(&outcome.fresh, fresh);
  if (refused != 0) atomicOr(&outcome.refused, refused);
}

}  // namespace gpulog::kernels::cuda
