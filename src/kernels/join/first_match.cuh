#pragma once

#include <cstdint>

#include "backend/gpu/wave.hpp"
#include "kernels/calibration.hpp"
#include "kernels/join/device_program.hpp"
#include "kernels/join/matches.cuh"
#include "kernels/join/nested.cuh"
#include "kernels/join/steps.cuh"

/// Finds the first match of a row: in one atom, or in several, with the inner atoms as nested loops. A thread examines
/// a few matches of its own row; then all lanes of the wave together examine the undecided rows, one row at a time.
namespace gpulog::kernels::gpu {

/// Loads the values of a match into the registers.
template <class Registers>
__device__ void set_matched(const expand_arguments& arguments, Registers& registers, std::uint64_t row,
                            std::uint64_t number) {
  const auto [run, position] = match_of(arguments.ranges, arguments.rows, row, number);
  const run_view& view =
      arguments.runs[run];  // for a Cartesian product, a run without rows: the columns are the relation's
  for (std::uint32_t b = 0; b < arguments.matched_count; ++b) {
    const device_binding& bound = arguments.matched[b];
    const word* const column = bound.column != nullptr ? bound.column : view.stored + bound.stored * view.rows;
    registers.set(bound.target, column[position]);
  }
}

template <class Registers>
__device__ void set_carried(const expand_arguments& arguments, Registers& registers, std::uint64_t row) {
  for (std::uint32_t b = 0; b < arguments.carried_count; ++b) {
    registers.set(arguments.carried[b].target, arguments.carried[b].column[arguments.first_row + row]);
  }
}

/// Searches for the first matches of the rows of a wave.
/// @tparam HasInner whether the first match has more than one atom
template <bool HasInner, class Registers>
class first_match_search {
 public:
  /// @param is_decided a variable of the wave in shared memory
  __device__ first_match_search(const expand_arguments& arguments, Registers& registers,
                                volatile std::uint32_t& is_decided)
      : arguments_(arguments), registers_(registers), is_decided_(is_decided) {}

  /// Returns whether a match of the row passes all steps. If so, the registers hold the values for the steps after the
  /// first match. All lanes call this.
  /// @param has_row whether the thread has a row
  __device__ bool find(std::uint64_t row, bool has_row) {
    const std::uint64_t degree = has_row ? arguments_.degrees[row] : 0;
    bool found = false;
    std::uint64_t number = 0;
    turns_ = calibration::turns_alone;
    if (degree != 0) set_carried(arguments_, registers_, row);
    for (; number < degree && number < calibration::matches_alone && !found; ++number) {
      found = passes(row, number, {}, true);
      if (HasInner && !found && turns_ == 0) break;
    }
    backend::gpu::lane_mask open = backend::gpu::ballot(!found && number < degree);
    bool is_set = found;  // whether the registers hold the thread's match
    while (open != 0) {
      const unsigned owner = backend::gpu::lowest_bit(open);
      open &= open - 1;
      const std::uint64_t own_row = backend::gpu::shuffle(row, owner);
      const std::uint64_t own_degree = backend::gpu::shuffle(degree, owner);
      const std::uint64_t own_begin = backend::gpu::shuffle(number, owner);
      is_set = false;
      const std::uint64_t passed = find_together(own_row, own_begin, own_degree);
      if (backend::gpu::lane() != owner || passed == own_degree) continue;
      found = true;
      number = passed + 1;
    }
    if (found && !is_set) {
      set_carried(arguments_, registers_, row);
      set_match(row, number - 1);
      if constexpr (HasInner) compute_results();
    }
    return found;
  }

  /// Returns how many rows of the innermost atom the thread has examined.
  [[nodiscard]] __device__ std::uint64_t looked_at() const { return looked_at_; }

 private:
  /// Loads a match of the first atom; the registers already hold the carried values of the row.
  /// @return whether the match passes the steps
  __device__ bool set_match(std::uint64_t row, std::uint64_t number) {
    set_matched(arguments_, registers_, row, number);
    return passes_steps(arguments_.steps, arguments_.step_count, registers_, arguments_.fault);
  }

  /// Computes what the steps after the first match compute from the row; different lanes found the match.
  __device__ void compute_results() {
    const auto& last = arguments_.inner[arguments_.inner_count - 1];
    static_cast<void>(passes_steps(last.steps + last.first_match_steps, last.step_count - last.first_match_steps,
                                   registers_, arguments_.fault));
  }

  /// Returns whether a match of the first atom passes together with some match of each inner atom.
  /// @param share the thread's share of the innermost atom's rows
  /// @param is_alone true: gives up after a number of turns; false: stops once any lane has decided
  __device__ bool passes(std::uint64_t row, std::uint64_t number, level_share share, bool is_alone) {
    if constexpr (!HasInner) {
      ++looked_at_;
      return set_match(row, number);
    } else {
      if (!set_match(row, number)) return false;
      bool found = false;
      const auto turn = [&] { return is_alone ? turns_ != 0 && turns_-- != 0 : is_decided_ == 0; };
      const auto look = [this] { ++looked_at_; };
      const auto emit = [&found] {
        found = true;
        return false;
      };
      run_levels(arguments_.inner, 0, arguments_.inner_count, registers_, arguments_.fault, share, turn, look, emit);
      return found;
    }
  }

  /// Examines matches [begin, degree) of a row's first atom with all lanes. The lanes share the matches of the first
  /// atom, or of the innermost atom if the first has fewer matches than lanes.
  /// @return a match that passes, or degree
  __device__ std::uint64_t find_together(std::uint64_t row, std::uint64_t begin, std::uint64_t degree) {
    const unsigned lane = backend::gpu::lane();
    const bool shares_innermost = HasInner && degree - begin < backend::gpu::wave_size;
    const std::uint64_t step = shares_innermost ? 1 : backend::gpu::wave_size;
    const level_share share = shares_innermost ? level_share{lane, backend::gpu::wave_size} : level_share{};
    set_carried(arguments_, registers_, row);
    if constexpr (HasInner) {
      if (lane == 0) is_decided_ = 0;
      backend::gpu::wave_barrier();
    }
    for (std::uint64_t first = begin; first < degree; first += step) {
      const std::uint64_t mine = shares_innermost ? first : first + lane;
      const bool is_match = mine < degree && passes(row, mine, share, false);
      if constexpr (HasInner) {
        if (is_match) is_decided_ = 1;
      }
      const backend::gpu::lane_mask passed = backend::gpu::ballot(is_match);
      if (passed != 0) return shares_innermost ? first : first + backend::gpu::lowest_bit(passed);
    }
    return degree;
  }

  const expand_arguments& arguments_;
  Registers& registers_;
  volatile std::uint32_t& is_decided_;
  std::uint64_t looked_at_ = 0;
  std::uint32_t turns_ = 0;
};

}  // namespace gpulog::kernels::gpu
