#include "storage/relation/device_columns.hpp"

#include <algorithm>

#include "backend/gpu/launch.hpp"
#include "backend/gpu/staging_ring.hpp"

namespace gpulog::storage::gpu {

namespace {

constexpr std::uint32_t most_shown_at_once = 16;
struct shown_columns {
  word* columns[most_shown_at_once];
};
__global__ void show_kernel(const shown_columns shown, word** table, std::uint32_t count) {
  if (threadIdx.x < count) table[threadIdx.x] = shown.columns[threadIdx.x];
}
}  // namespace

device_columns::device_columns(const backend::gpu::device_context& context, memory_resource& resource,
                               std::uint32_t arity)
    : context_(&context), resource_(&resource), arity_(arity), column_table_(resource) {
  for (std::uint32_t c = 0; c < arity; ++c) columns_.emplace_back(resource);
}

column_pointers device_columns::columns() const {
  column_pointers pointers;
  for (const auto& column : columns_) pointers.push_back(column.data());
  return pointers;
}

std::uint64_t device_columns::column_bytes() const {
  std::uint64_t sum = 0;
  for (const auto& column : columns_) sum += column.bytes();
  return sum;
}

void device_columns::show_columns() {
  std::vector<word*> pointers;
  for (auto& column : columns_) pointers.push_back(column.data());
  if (pointers == shown_columns_) return;
  shown_columns_ = pointers;
  column_table_.resize(arity_);
  for (std::uint32_t first = 0; first < arity_; first += most_shown_at_once) {
    const std::uint32_t count = std::min(arity_ - first, most_shown_at_once);
    shown_columns shown{};
    std::copy_n(pointers.begin() + first, count, shown.columns);
    backend::gpu::launch(GPULOG_KERNEL(show_kernel), {1, most_shown_at_once, 0, context_->stream()}, shown,
                         column_table_.data() + first, count);
  }
}

void device_columns::upload(const std::vector<const word*>& host_columns, std::uint64_t rows) {
  for (std::uint32_t c = 0; c < arity_ && rows != 0; ++c) {
    columns_[c] = array<word>(*resource_, rows, backend::fresh_memory::anything);
    context_->staging().upload(host_columns[c], columns_[c].data(), rows * sizeof(word));
  }
}

std::vector<const word*> device_columns::host_columns() {
  if (host_rows_ != rows_) {
    host_.clear();
    host_.resize(arity_);
    for (std::uint32_t c = 0; c < arity_ && rows_ != 0; ++c) {
      host_[c] = std::make_unique_for_overwrite<word[]>(rows_);
      backend::gpu::download(*context_, columns_[c].data(), host_[c].get(), rows_);
    }
    host_rows_ = rows_;
  }
  std::vector<const word*> pointers;
  for (const auto& column : host_) pointers.push_back(column.get());
  return pointers;
}

}  // namespace gpulog::storage::gpu
