#pragma once

#include <algorithm>
#include <cstdint>

#include "backend/gpu/launch.hpp"
#include "backend/gpu/wave.hpp"
#include "storage/representation/kept_rows.cuh"

/// Kernels that read all factorized rows of a relation as words of bits.
namespace gpulog::storage::gpu {

/// All lanes of a wave: calls use(number, bits) for the words of a source's row, one lane per call; `number` is the
/// index of the word in a bitmap over nodes. A word may be reported in several calls, a node only once.
/// @param wanted bitmap of nodes; skips all unset nodes, and words without wanted nodes; null: all nodes
template <class Use>
__device__ void visit_words(const kept_rows_view& kept, std::uint32_t source, const std::uint32_t* wanted,
                            const Use& use) {
  constexpr std::uint32_t wave_size = backend::gpu::wave_size;
  const std::uint32_t lane = backend::gpu::lane();
  const auto visit_word = [&](std::uint32_t number, const std::uint32_t* at) {
    const std::uint32_t mask = wanted == nullptr ? ~0U : wanted[number];
    if (mask != 0) use(number, *at & mask);
  };
  if (kept.bits != nullptr) {
    const std::uint64_t begin = std::uint64_t{source} * kept.groups;
    for (std::uint32_t group = 0; group < kept.groups; ++group) {
      if (kept.stamps[begin + group] == 0) continue;
      visit_word(group * wave_size + lane, kept.bits + (begin + group) * wave_size + lane);
    }
    return;
  }
  const unsigned long long row = kept.results[source];
  if (row == kept_row::empty) return;
  const bool is_kept = kept_row::place(row) != kept_row::no_place;
  const std::uint32_t* const words = is_kept ? kept.rows.at(row) : kept.lists + kept.begins[source];
  if (!is_kept || kept_row::is_list(row)) {
    for (std::uint32_t i = lane; i < kept_row::size(row); i += wave_size) {
      const std::uint32_t bit = 1U << words[i] % word_bits;
      visit_word(words[i] / word_bits, &bit);
    }
  } else if (kept.rows.is_compact) {
    const std::uint32_t used = words[0];
    const std::uint32_t* const groups = words + row_memory::compact_head_words(used) + lane;
    for (std::uint32_t i = 0; i < used; ++i) visit_word(words[1 + i] * wave_size + lane, groups + i * wave_size);
  } else {
    for (std::uint32_t group = 0; group < kept.groups; ++group) {
      if ((words[group / word_bits] >> group % word_bits & 1) == 0) continue;
      visit_word(group * wave_size + lane, words + kept.rows.head_words + group * wave_size + lane);
    }
  }
}

constexpr unsigned visiting_threads = 256;

template <class Use>
__global__ void __launch_bounds__(visiting_threads)
    visit_rows_kernel(const kept_rows_view* kept, const std::uint32_t* wanted, Use use) {
  constexpr unsigned waves = visiting_threads / backend::gpu::wave_size;
  for (std::uint64_t source = blockIdx.x * std::uint64_t{waves} + backend::gpu::wave(); source < kept->source_count;
       source += gridDim.x * std::uint64_t{waves}) {
    const auto own = static_cast<std::uint32_t>(source);
    visit_words(*kept, own, wanted, [&](std::uint32_t number, std::uint32_t bits) { use(own, number, bits); });
  }
}

/// Calls use(source, word number, bits) for all rows, one wave per row, in stream order.
/// @param kept in device memory
/// @param wanted as above
template <class Use>
void visit_rows(backend::gpu::stream_handle stream, const kept_rows_view* kept, std::uint64_t sources,
                const std::uint32_t* wanted, const Use& use) {
  constexpr std::uint64_t waves = visiting_threads / backend::gpu::wave_size;
  constexpr std::uint64_t most_blocks = 1U << 16;
  if (sources == 0) return;
  const auto blocks = static_cast<unsigned>(std::min((sources + waves - 1) / waves, most_blocks));
  backend::gpu::launch(GPULOG_KERNEL(visit_rows_kernel<Use>), {blocks, visiting_threads, 0, stream}, kept, wanted, use);
}

}  // namespace gpulog::storage::gpu
