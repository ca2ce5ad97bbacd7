#pragma once

#include <cstdint>

#include "kernels/join/wave_share.cuh"
#include "kernels/search/takeover.hpp"

/// The first takeover kernel: one wave per source, which collects and lists numbers in shared memory. Sources with long
/// results, or with many steps, are left to the second kernel.
namespace gpulog::kernels::gpu {

constexpr unsigned short_search_threads = 256;

/// The numbers that a wave has visited. All lanes call its functions.
class short_set {
 public:
  static constexpr std::uint32_t slots = 256;
  static constexpr std::uint32_t capacity = short_row + wave_size;

  __device__ short_set(std::uint32_t* table, std::uint32_t* list) : table_(table), list_(list) {}

  __device__ void clear() {
    for (std::uint32_t i = backend::gpu::lane(); i < slots; i += wave_size) table_[i] = free_slot;
    size_ = 0;
    backend::gpu::wave_barrier();
  }
  /// Adds a number; no effect once the set is too large. After a wave barrier, all lanes see the addition.
  __device__ void add(bool is_there, std::uint32_t number) {
    if (is_too_large()) return;
    bool fresh = false;
    if (is_there) {
      for (std::uint32_t at = number * 0x9E3779B1U >> 24;; at = (at + 1) % slots) {
        const std::uint32_t known = atomicCAS(table_ + at, free_slot, number);
        fresh = known == free_slot;
        if (fresh || known == number) break;
      }
    }
    const backend::gpu::lane_mask winners = backend::gpu::ballot(fresh);
    if (fresh) list_[size_ + backend::gpu::rank_in(winners)] = number;
    size_ += backend::gpu::count_bits(winners);
  }
  __device__ void add_all(const word* numbers, std::uint32_t n) {
    for (std::uint32_t base = 0; base < n; base += wave_size) {
      const std::uint32_t i = base + backend::gpu::lane();
      add(i < n, i < n ? numbers[i] : 0);
    }
  }
  [[nodiscard]] __device__ std::uint32_t size() const { return size_; }
  [[nodiscard]] __device__ bool is_too_large() const { return size_ > short_row; }
  [[nodiscard]] __device__ std::uint32_t operator[](std::uint32_t i) const { return list_[i]; }

 private:
  static constexpr std::uint32_t free_slot = UINT32_MAX;
  std::uint32_t* table_;
  std::uint32_t* list_;
  std::uint32_t size_ = 0;
};
static_assert(short_set::slots >= 2 * short_set::capacity);

/// Adds the first numbers of a source to the set. First tuples are distinct, so a list of starts has no duplicates; a
/// list of steps may have duplicates.
/// @return whether the result is the row of a vertex, that is, whether the source starts at exactly the successors of
///   the vertex
__device__ inline row_kind begin_short(const takeover_arguments& arguments, std::uint64_t source, std::uint32_t vertex,
                                       short_set& met) {
  const std::uint32_t begin = arguments.first_starts[source];
  const std::uint32_t starts = arguments.first_starts[source + 1] - begin;
  met.clear();
  const std::uint32_t count = vertex == takeover_arguments::no_vertex ? 0 : arguments.vertices[vertex].count;
  if (count != 0 && count <= 2 * short_row) {
    met.add_all(arguments.steps + arguments.vertices[vertex].first, count);
    const std::uint32_t following = met.size();
    met.add_all(arguments.starts + begin, starts);
    if (met.size() == following && following == starts) return row_kind::of_vertex;
    backend::gpu::wave_barrier();
    met.clear();
  }
  met.add_all(arguments.starts + begin, starts);
  return count > 2 * short_row ? row_kind::unknown : row_kind::other;
}

/// @return whether the search is complete
__device__ inline bool search_short(const takeover_arguments& arguments, short_set& met,
                                    unsigned long long& candidates) {
  constexpr std::uint32_t most_steps = 16 * short_row;
  for (std::uint32_t begin = 0; begin < met.size() && !met.is_too_large();) {
    const std::uint32_t end = met.size();
    backend::gpu::wave_barrier();
    for (std::uint32_t base = begin; base < end; base += wave_size) {
      const std::uint32_t i = base + backend::gpu::lane();
      std::uint32_t first = 0;
      std::uint32_t count = 0;
      if (i < end) {
        const row_vertex& vertex = arguments.vertices[met[i]];
        first = vertex.first;
        count = vertex.count;
      }
      if (backend::gpu::any_lane(count > most_steps) || backend::gpu::sum_of_lanes(count) > most_steps) return false;
      candidates += count;
      share_ranges<1>(
          first, count, [&](std::uint32_t position) { return arguments.steps[position]; },
          [&](bool is_there, word next) { met.add(is_there, next); });
    }
    begin = end;
  }
  backend::gpu::wave_barrier();
  return !met.is_too_large();
}

/// Stores the result of a search. Only later kernels read it.
__device__ inline void keep_short(const takeover_arguments& arguments, std::uint64_t source, std::uint32_t vertex,
                                  row_kind kind, const short_set& met) {
  const unsigned long long row = kept_row::of(met.size(), static_cast<std::uint32_t>(source));
  std::uint32_t* const numbers = arguments.rows.at(row);
  for (std::uint32_t i = backend::gpu::lane(); i < met.size(); i += wave_size) numbers[i] = met[i];
  if (backend::gpu::lane() != 0) return;
  arguments.results[source] = row;
  if (kind == row_kind::of_vertex) arguments.vertices[vertex].row = row;
}

__global__ void __launch_bounds__(short_search_threads)
    short_takeover_kernel(const GPULOG_GRID_CONSTANT takeover_arguments arguments) {
  constexpr unsigned waves = short_search_threads / wave_size;
  GPULOG_SHARED(std::uint32_t[waves][short_set::slots], tables);
  GPULOG_SHARED(std::uint32_t[waves][short_set::capacity], lists);
  const std::uint32_t wave = backend::gpu::wave();
  short_set met(tables[wave], lists[wave]);
  unsigned long long candidates = 0;
  std::uint64_t rows = 0;
  for (std::uint64_t number = blockIdx.x * waves + wave; number < arguments.sources; number += gridDim.x * waves) {
    const std::uint64_t source = number * arguments.stride % arguments.sources;
    const std::uint32_t starts = arguments.first_starts[source + 1] - arguments.first_starts[source];
    if (starts == 0) {
      if (backend::gpu::lane() == 0) arguments.results[source] = kept_row::empty;
      continue;
    }
    const std::uint32_t vertex =
        arguments.vertex_of == nullptr ? static_cast<std::uint32_t>(source) : arguments.vertex_of[source];
    row_kind kind = vertex == takeover_arguments::no_vertex ? row_kind::other : row_kind::unknown;
    const bool may_be_short = starts <= short_row;
    if (may_be_short) kind = begin_short(arguments, source, vertex, met);
    if (may_be_short && search_short(arguments, met, candidates)) {
      keep_short(arguments, source, vertex, kind, met);
      rows += met.size();
    } else if (backend::gpu::lane() == 0) {
      arguments.kinds[source] = kind;
      arguments.listed[atomicAdd(&arguments.counts->longs, 1ULL)] = static_cast<std::uint32_t>(source);
    }
    backend::gpu::wave_barrier();
  }
  candidates = backend::gpu::sum_of_lanes(std::uint64_t{candidates});
  if (backend::gpu::lane() != 0) return;
  if (candidates != 0) atomicAdd(&arguments.counts->candidates, candidates);
  if (rows != 0) atomicAdd(&arguments.counts->rows, static_cast<unsigned long long>(rows));
}

}  // namespace gpulog::kernels::gpu
