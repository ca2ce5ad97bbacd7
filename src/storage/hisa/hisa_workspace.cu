#include "storage/hisa/hisa_workspace.hpp"

#include <bit>
#include <stdexcept>

#include "backend/gpu/primitives.hpp"
#include "storage/hisa/hisa_device.cuh"

namespace gpulog::storage::gpu {

namespace {

/// Calls a CUB function twice: first to query the scratch size, then with the scratch memory.
template <class Call>
void with_temporary(hisa_workspace& space, array<std::uint8_t>& memory, Call&& call) {
  std::size_t bytes = 0;
  call(nullptr, bytes);
  void* const temporary = space.scratch(memory, bytes + 1);
  call(temporary, bytes);
}

/// Columns packed into one sort key, which has only the used bits of each column.
struct sort_key {
  static constexpr std::uint32_t most = 8;
  const word* columns[most];
  std::uint32_t shifts[most];
  std::uint32_t count = 0;
};
struct gather_sort_keys {
  sort_key key;
  const std::uint32_t* rows;  // null: in order
  std::uint64_t* out;
  std::uint32_t* out_rows;
  __device__ void operator()(std::uint64_t i) const {
    const std::uint64_t row = rows == nullptr ? i : rows[i];
    std::uint64_t value = 0;
    for (std::uint32_t k = 0; k < key.count; ++k) {
      value |= static_cast<std::uint64_t>(key.columns[k][row]) << key.shifts[k];
    }
    out[i] = value;
    if (rows == nullptr) out_rows[i] = static_cast<std::uint32_t>(i);
  }
};
struct number_hisa_rows {
  std::uint32_t* out;
  __device__ void operator()(std::uint64_t i) const { out[i] = static_cast<std::uint32_t>(i); }
};
struct find_split {
  const std::uint32_t* ranks;
  std::uint64_t n;
  std::uint32_t* splits;
  __device__ void operator()(std::uint64_t tile) const {
    const std::uint64_t begin = tile * merge_tile;
    std::uint64_t low = 0;
    std::uint64_t high = n;
    while (low < high) {
      const std::uint64_t middle = (low + high) / 2;
      if (ranks[middle] + middle < begin) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    splits[tile] = static_cast<std::uint32_t>(low);
  }
};

}  // namespace

hisa_workspace::hisa_workspace(const backend::gpu::device_context& device, memory_resource& memory,
                               backend::gpu::phase_clock& phases)
    : context(device),
      resource(memory),
      clock(phases),
      keys(memory),
      other_keys(memory),
      rows(memory),
      other_rows(memory),
      ranks(memory),
      fresh_ranks(memory),
      group_ranks(memory),
      selected(memory),
      splits(memory),
      flags(memory),
      temporary_(memory),
      counters_(memory, most_counters) {
  host_values_ = backend::gpu::allocate_pinned<std::uint64_t>(most_counters);
}

hisa_workspace::~hisa_workspace() { backend::gpu::deallocate_pinned(host_values_); }

std::uint64_t* hisa_workspace::sort_keys(std::uint64_t* from, std::uint64_t* other, std::uint64_t n, unsigned begin_bit,
                                         unsigned end_bit) {
  if (begin_bit == end_bit || n < 2) return from;
  backend::gpu::double_buffer<std::uint64_t> buffers{from, other};
  with_temporary(*this, temporary_, [&](void* memory, std::size_t& bytes) {
    backend::gpu::sort_keys(memory, bytes, buffers, n, begin_bit, end_bit, stream());
  });
  return buffers.current;
}

const std::uint32_t* hisa_workspace::sort_rows(const std::vector<const word*>& columns,
                                               const std::vector<word>& used_bits, std::uint64_t n) {
  scratch(rows, n);
  scratch(other_rows, n);
  scratch(keys, n);
  scratch(other_keys, n);
  bool numbered = false;
  for (std::size_t c = columns.size(); c > 0;) {
    sort_key key;
    unsigned bits = 0;
    for (; c > 0 && key.count < sort_key::most; --c) {
      const auto width = static_cast<unsigned>(std::bit_width(used_bits[c - 1]));
      if (bits + width > 64) break;
      if (width == 0) continue;
      key.columns[key.count] = columns[c - 1];
      key.shifts[key.count] = bits;
      ++key.count;
      bits += width;
    }
    if (key.count == 0) continue;
    hisa_for_each(*this, n, gather_sort_keys{key, numbered ? rows.data() : nullptr, keys.data(), rows.data()});
    numbered = true;
    backend::gpu::double_buffer<std::uint64_t> key_buffers{keys.data(), other_keys.data()};
    backend::gpu::double_buffer<std::uint32_t> row_buffers{rows.data(), other_rows.data()};
    with_temporary(*this, temporary_, [&](void* memory, std::size_t& bytes) {
      backend::gpu::sort_pairs(memory, bytes, key_buffers, row_buffers, n, 0, bits, stream());
    });
    if (row_buffers.current != rows.data()) rows.swap(other_rows);
  }
  if (!numbered) hisa_for_each(*this, n, number_hisa_rows{rows.data()});
  return rows.data();
}

void hisa_workspace::select(const std::uint8_t* chosen, std::uint64_t n, std::uint32_t* out, std::uint64_t* count) {
  with_temporary(*this, temporary_, [&](void* memory, std::size_t& bytes) {
    backend::gpu::select_flagged(memory, bytes, chosen, out, count, n, stream());
  });
}

void hisa_workspace::exclusive_sum(std::uint64_t* values, std::uint64_t n) {
  with_temporary(*this, temporary_, [&](void* memory, std::size_t& bytes) {
    backend::gpu::exclusive_sum(memory, bytes, values, values, n, stream());
  });
}

const std::uint32_t* hisa_workspace::split(const std::uint32_t* sorted_ranks, std::uint64_t n, std::uint64_t merged) {
  const std::uint64_t tiles = (merged + merge_tile - 1) / merge_tile;
  std::uint32_t* const found = scratch(splits, tiles + 1);
  hisa_for_each(*this, tiles + 1, find_split{sorted_ranks, n, found});
  return found;
}

void hisa_workspace::clear_counters(std::uint64_t n) {
  backend::gpu::fill_async(counters_.data(), 0, n * sizeof(std::uint64_t), stream());
}

const std::uint64_t* hisa_workspace::read(const std::uint64_t* values, std::uint64_t n) {
  if (n > most_counters) throw std::length_error("a relation has too many columns for a device");
  backend::gpu::copy_async(host_values_, values, n * sizeof(std::uint64_t), backend::gpu::direction::device_to_host,
                           stream());
  context.synchronize();
  return host_values_;
}

}  // namespace gpulog::storage::gpu
