#include "storage/hisa/hisa_level.hpp"

#include "storage/hisa/hisa_device.cuh"

namespace gpulog::storage::gpu {

namespace {

/// Algorithm 2: claims a slot by compare-and-swap, or tries the next slot. Each key occurs once, with the smallest
/// position of its rows, so that no position has to be lowered later.
struct insert_group {
  level_view level;
  key_slot* table;
  __device__ void operator()(std::uint64_t g) const {
    const std::uint64_t code = level.code([this, g](std::uint32_t c) { return level.keys[c * level.stride + g]; });
    const std::uint32_t first = level.first[g];
    const std::uint64_t range = level.ranges ? pack(level.first[g + 1] - first, first) : pack(1, static_cast<word>(g));
    std::uint64_t at = scale(mix(code), level.table_size);
    while (atomicCAS(reinterpret_cast<unsigned long long*>(&table[at].range), 0ULL,
                     static_cast<unsigned long long>(range)) != 0) {
      at = at + 1 == level.table_size ? 0 : at + 1;
    }
    table[at].code = code;
  }
};

}  // namespace

level_view hisa_level::view() const {
  return {table_.data(), table_.size(), first_.data(), keys_.data(), groups_, stride_, length_, ranges_};
}

std::uint64_t hisa_level::make_spare(hisa_workspace& space, std::uint64_t groups, std::uint64_t capacity) {
  const std::uint64_t stride = std::max(groups, spare_keys_.capacity() / length_);
  if (spare_keys_.capacity() < groups * length_ || spare_first_.capacity() < groups + 1) {
    const backend::gpu::phase_scope scope(space.clock, backend::gpu::phase::allocation);
    const std::uint64_t room = std::max(groups, capacity);
    make_room(spare_keys_, groups * length_, room * length_);
    make_room(spare_first_, groups + 1, room + 1);
    return spare_keys_.capacity() / length_;
  }
  return stride;
}

void hisa_level::take_spare(std::uint64_t groups, std::uint64_t stride, const buffer_policy& buffers) {
  keys_.swap(spare_keys_);
  first_.swap(spare_first_);
  groups_ = groups;
  stride_ = stride;
  if (!buffers.eager) {
    spare_keys_.release();
    spare_first_.release();
  }
}

void hisa_level::build_table(hisa_workspace& space) {
  const auto capacity = static_cast<std::uint64_t>(static_cast<double>(groups_) / load_) + 2;
  if (table_.capacity() < capacity) {
    const backend::gpu::phase_scope scope(space.clock, backend::gpu::phase::allocation);
    make_room(table_, capacity, capacity + capacity / 4);
  }
  table_.resize(capacity);
  backend::gpu::fill_async(table_.data(), 0, capacity * sizeof(key_slot), space.stream());
  hisa_for_each(space, groups_, insert_group{view(), table_.data()});
}

}  // namespace gpulog::storage::gpu
