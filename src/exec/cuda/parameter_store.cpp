#include "exec/cuda/parameter_store.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "backend/cuda/error.hpp"

namespace gpulog::exec {

namespace {
constexpr std::uint64_t staging_bytes = 4u << 20;
constexpr std::uint64_t chunk_bytes = 256u << 10;
constexpr std::uint64_t least_slot = 64;
}  // namespace

parameter_store::parameter_store(const backend::cuda::device_context& context, backend::memory_resource& resource)
    : context_(&context), resource_(&resource) {
  GPULOG_CUDA_TRY(cudaMallocHost(reinterpret_cast<void**>(&staging_), staging_bytes));
}

parameter_store::~parameter_store() {
  if (staging_ != nullptr) cudaFreeHost(staging_);
}

std::uint8_t* parameter_store::take(std::uint64_t bytes) {
  if (chunks_.empty() || chunk_used_ + bytes > chunks_.back().size()) {
    chunks_.emplace_back(*resource_, std::max(chunk_bytes, bytes), backend::fresh_memory::anything);
    chunk_used_ = 0;
  }
  std::uint8_t* const memory = chunks_.back().data() + chunk_used_;
  chunk_used_ += bytes;
  return memory;
}

std::uint8_t* parameter_store::stage(std::uint64_t bytes) {
  if (bytes > staging_bytes) throw std::length_error("a rule has too many operators for a kernel");
  if (staging_used_ + bytes > staging_bytes) {
    context_->synchronize();
    staging_used_ = 0;
  }
  std::uint8_t* const memory = staging_ + staging_used_;
  staging_used_ += (bytes + least_slot - 1) / least_slot * least_slot;
  staging_used_ = std::min(staging_used_, staging_bytes);
  return memory;
}

const std::uint8_t* parameter_store::put(const void* values, std::uint64_t bytes) {
  if (next_ == slots_->size()) slots_->emplace_back();
  slot& place = (*slots_)[next_++];
  if (place.contents.size() == bytes && std::memcmp(place.contents.data(), values, bytes) == 0) return place.memory;
  std::uint8_t* const staged = stage(bytes);
  if (place.capacity < bytes) {
    place.capacity = std::bit_ceil(std::max(bytes, least_slot));
    place.memory = take(place.capacity);
  }
  const auto* const first = static_cast<const std::uint8_t*>(values);
  place.contents.assign(first, first + bytes);
  std::memcpy(staged, values, bytes);
  GPULOG_CUDA_TRY(cudaMemcpyAsync(place.memory, staged, bytes, cudaMemcpyHostToDevice, context_->stream()));
  return place.memory;
}

}  // namespace gpulog::exec
