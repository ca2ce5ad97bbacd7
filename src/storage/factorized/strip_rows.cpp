#include "storage/factorized/strip_rows.hpp"

#include <algorithm>

namespace gpulog::storage {
namespace {

/// Number of lanes in a vectorized loop; the width of a row is a multiple of it.
constexpr std::uint32_t lanes = factorized_graph::least_strip_words;

/// Counts the bits in each byte.
constexpr std::uint64_t bits_by_byte(std::uint64_t word) {
  word -= (word >> 1) & 0x5555555555555555U;
  word = (word & 0x3333333333333333U) + ((word >> 2) & 0x3333333333333333U);
  return (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fU;
}

/// Counts bits without a population count instruction, which some processors lack. At most 31 words per lane, so that
/// no byte overflows.
std::uint32_t count_bits(const std::uint64_t* words, std::uint32_t n) {
  std::uint64_t sums[lanes] = {};
  for (std::uint32_t w = 0; w < n; w += lanes) {
    for (std::uint32_t lane = 0; lane < lanes; ++lane) sums[lane] += bits_by_byte(words[w + lane]);
  }
  std::uint64_t total = 0;
  for (const std::uint64_t sum : sums) total += (sum & 0x00ff00ff00ff00ffU) + ((sum >> 8) & 0x00ff00ff00ff00ffU);
  return static_cast<std::uint32_t>((total * 0x0001000100010001U) >> 48);
}
static_assert(factorized_graph::most_strip_words / lanes <= 31);

void or_into(std::uint64_t* into, const std::uint64_t* words, std::uint32_t n) {
  for (std::uint32_t w = 0; w < n; w += lanes) {
    for (std::uint32_t lane = 0; lane < lanes; ++lane) into[w + lane] |= words[w + lane];
  }
}

}  // namespace

strip_rows::strip_rows(backend::memory_resource& resource, const factorized_graph& graph)
    : resource_(&resource),
      graph_(&graph),
      row_of_(resource, graph.vertices, backend::fresh_memory::anything),
      sizes_(resource, 1) {
  std::fill_n(place_of(0), graph.strip_words, 0);
}

std::uint64_t* strip_rows::place_of(std::uint32_t row) {
  if (row / rows_per_block == blocks_.size())
    blocks_.emplace_back(*resource_, std::uint64_t{rows_per_block} * graph_->strip_words,
                         backend::fresh_memory::anything);
  return blocks_[row / rows_per_block].data() + std::uint64_t{row % rows_per_block} * graph_->strip_words;
}

void strip_rows::make(std::uint32_t strip) {
  begin_ = strip * graph_->strip_components();
  end_ = std::min(begin_ + graph_->strip_components(), graph_->components);
  rows_ = 1;
  sizes_.resize(1);
  // Vertices before the strip never lead into it.
  for (std::uint32_t vertex = begin_; vertex < graph_->vertices; ++vertex)
    row_of_[vertex] = graph_->lowest[vertex] >= end_ ? 0 : make_row(vertex);
}

std::uint32_t strip_rows::make_row(std::uint32_t vertex) {
  const std::uint32_t* const successors = graph_->successors.data();
  const std::uint32_t begin = graph_->first[vertex];
  std::uint32_t first = graph_->first[vertex + 1ULL];
  bool has_bits = vertex < end_ && graph_->is_cyclic[vertex] != 0;
  bool has_several = false;
  std::uint32_t base = 0;
  for (; first > begin && successors[first - 1] >= begin_; --first) {
    const std::uint32_t next = successors[first - 1];
    has_bits = has_bits || next < end_;
    const std::uint32_t row = row_of_[next];
    if (row == 0 || row == base) continue;
    has_several = has_several || base != 0;
    base = std::max(base, row);
  }
  return has_bits || has_several ? unite(vertex, first, base) : base;
}

std::uint32_t strip_rows::unite(std::uint32_t vertex, std::uint32_t first, std::uint32_t base) {
  const std::uint32_t width = graph_->strip_words;
  std::uint64_t* const made = place_of(rows_);
  std::copy_n(words(base), width, made);
  std::uint32_t largest = base;
  // Large numbers first, as they may lead to smaller ones.
  for (std::uint32_t i = graph_->first[vertex + 1ULL]; i > first; --i) {
    const std::uint32_t next = graph_->successors[i - 1];
    if (next < end_) {
      std::uint64_t& word = made[(next - begin_) / 64];
      const std::uint64_t bit = 1ULL << (next - begin_) % 64;
      if ((word & bit) != 0) continue;  // including all components that it leads to
      word |= bit;
    }
    const std::uint32_t row = row_of_[next];
    if (row == 0 || row == base) continue;
    or_into(made, words(row), width);
    if (sizes_[row] > sizes_[largest]) largest = row;
  }
  if (vertex < end_ && graph_->is_cyclic[vertex] != 0) {
    made[(vertex - begin_) / 64] |= 1ULL << (vertex - begin_) % 64;
  }
  const std::uint32_t size = count_bits(made, width);
  if (size == sizes_[largest]) return largest;  // no bits were added
  sizes_.push_back(size);
  return rows_++;
}

}  // namespace gpulog::storage
