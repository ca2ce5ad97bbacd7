#include "exec/gpu/parameter_store.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "backend/gpu/launch.hpp"

namespace gpulog::exec {

namespace {
constexpr std::uint64_t staging_bytes = 4u << 20;
constexpr std::uint64_t chunk_bytes = 256u << 10;
constexpr std::uint64_t least_slot = 64;
constexpr unsigned copy_threads = 64;

/// Copies each array with one block, directly from pinned host memory.
__global__ void copy_arrays(const copied_array* arrays) {
  const copied_array one = arrays[blockIdx.x];
  const auto* const from = reinterpret_cast<const std::uint64_t*>(one.from);
  auto* const to = reinterpret_cast<std::uint64_t*>(one.to);
  for (std::uint64_t i = threadIdx.x; i < one.words; i += copy_threads) to[i] = from[i];
}

}  // namespace

parameter_store::parameter_store(const backend::gpu::device_context& context, backend::memory_resource& resource)
    : context_(&context), resource_(&resource) {
  staging_ = backend::gpu::allocate_pinned<std::uint8_t>(staging_bytes);
}

parameter_store::~parameter_store() { backend::gpu::deallocate_pinned(staging_); }

std::uint8_t* parameter_store::take(std::uint64_t bytes) {
  if (chunks_.empty() || chunk_used_ + bytes > chunks_.back().size()) {
    chunks_.emplace_back(*resource_, std::max(chunk_bytes, bytes), backend::fresh_memory::anything);
    chunk_used_ = 0;
  }
  std::uint8_t* const memory = chunks_.back().data() + chunk_used_;
  chunk_used_ += bytes;
  return memory;
}

/// Returns pinned memory, which stays valid until the copies from it are done.
std::uint8_t* parameter_store::stage(std::uint64_t bytes) {
  bytes = (bytes + least_slot - 1) / least_slot * least_slot;
  // The list of copies must fit after the arrays.
  const std::uint64_t list_bytes = (changed_.size() + 2) * sizeof(copied_array) + least_slot;
  if (bytes + list_bytes > staging_bytes) throw std::length_error("a rule has too many operators for a kernel");
  if (staging_used_ + bytes + list_bytes > staging_bytes) {
    flush();
    context_->synchronize();
    staging_used_ = 0;
  }
  std::uint8_t* const memory = staging_ + staging_used_;
  staging_used_ += bytes;
  return memory;
}

const std::uint8_t* parameter_store::put_bytes(const void* values, std::uint64_t bytes) {
  if (next_ == slots_->size()) slots_->emplace_back();
  slot& place = (*slots_)[next_++];
  if (place.contents.size() == bytes && std::memcmp(place.contents.data(), values, bytes) == 0) return place.memory;
  if (place.flushed_with == flushes_) flush();  // an array is copied at most once per flush
  std::uint8_t* const staged = stage(bytes);
  if (place.capacity < bytes) {
    place.capacity = std::bit_ceil(std::max(bytes, least_slot));
    place.memory = take(place.capacity);
  }
  const auto* const first = static_cast<const std::uint8_t*>(values);
  place.contents.assign(first, first + bytes);
  place.flushed_with = flushes_;
  std::memcpy(staged, values, bytes);
  changed_.push_back({place.memory, staged, (bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t)});
  return place.memory;
}

void parameter_store::flush() {
  if (changed_.empty()) return;
  auto* const list = staging_ + staging_used_;
  const std::uint64_t bytes = changed_.size() * sizeof(copied_array);
  std::memcpy(list, changed_.data(), bytes);
  staging_used_ += (bytes + least_slot - 1) / least_slot * least_slot;
  backend::gpu::launch(GPULOG_KERNEL(copy_arrays),
                       {static_cast<unsigned>(changed_.size()), copy_threads, 0, context_->stream()},
                       reinterpret_cast<const copied_array*>(list));
  changed_.clear();
  ++flushes_;
}

}  // namespace gpulog::exec
