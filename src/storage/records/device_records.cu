#include "storage/records/device_records.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "backend/gpu/for_each.hpp"
#include "backend/gpu/vendor.hpp"
#include "storage/records/record_slots.cuh"

namespace gpulog::storage::gpu {

namespace {

constexpr std::uint64_t least_capacity = 4096;
/// The set is at most half full.
constexpr std::uint64_t slots_per_record = 2;

/// Inserts distinct records that are not in the set.
struct enter_record {
  record_view table;
  std::uint64_t first;
  std::uint64_t count;  ///< number of records afterwards
  __device__ void operator()(std::uint64_t i) const {
    if (i == 0) *table.count = count;
    const std::uint64_t place = first + i;
    const word* const own = table.fields + place * table.arity;
    const std::uint32_t tag = record_tag(table.arity, [own](std::uint32_t f) { return own[f]; });
    const auto entry = static_cast<unsigned long long>(record_slot(tag, static_cast<word>(place + 1)));
    for (std::uint64_t at = record_home(tag, table.slot_count);; at = at + 1 == table.slot_count ? 0 : at + 1) {
      if (atomicCAS(reinterpret_cast<unsigned long long*>(table.slots + at), 0ULL, entry) == 0) return;
    }
  }
};

}  // namespace

device_records::device_records(const backend::gpu::device_context& context, backend::memory_resource& resource,
                               std::uint32_t arity, word most)
    : context_(&context),
      arity_(arity),
      most_(std::min(most, being_made - 1)),
      fields_(resource),
      slots_(resource),
      count_(resource, 1) {}

void device_records::reserve_fields(std::uint64_t records) {
  if (capacity_ >= records) return;
  backend::array<word> larger(fields_.resource(), records * arity_, backend::fresh_memory::anything);
  if (size_ * arity_ != 0) {
    backend::gpu::copy_async(larger.data(), fields_.data(), size_ * arity_ * sizeof(word),
                             backend::gpu::direction::device_to_device, context_->stream());
  }
  fields_.swap(larger);
  outgrown_.push_back(std::move(larger));
  capacity_ = records;
}

void device_records::append(const word* fields, std::uint64_t records) {
  if (capacity_ < size_ + records) reserve_fields(std::max(least_capacity, size_ + records + size_ / 2));
  if (arity_ != 0) {
    backend::gpu::copy_async(fields_.data() + size_ * arity_, fields, records * arity_ * sizeof(word),
                             backend::gpu::direction::host_to_device, context_->stream());
  }
  size_ += records;
}

void device_records::read(word first, std::uint64_t records, word* fields) const {
  if (arity_ == 0) return;
  context_->read(fields_.data() + (first - 1ULL) * arity_, fields, records * arity_ * sizeof(word));
}

void device_records::enter(std::uint64_t first) {
  const record_view view{slots_.data(), slots_.size(), fields_.data(), count_.data(), 0, arity_};
  backend::gpu::for_each(context_->stream(), size_ - first, enter_record{view, first, size_});
  entered_ = size_;
}

void device_records::reserve(std::uint64_t records) {
  if (slots_.size() < slots_per_record * records) {
    // The set is rebuilt from the fields, so the old set can be freed first.
    backend::memory_resource& resource = slots_.resource();
    slots_.release();
    entered_ = 0;
    slots_ = backend::array<std::uint64_t>(resource, slots_per_record * records);
  }
  reserve_fields(records);
}

record_view device_records::make_room(std::uint64_t records, std::uint64_t threads) {
  if (size_ + threads >= most_) throw std::length_error(too_many_records);
  const std::uint64_t wanted = std::max(least_capacity, size_ + records + threads);
  const std::uint64_t better = capacity_ >= wanted ? capacity_ : std::max(wanted, capacity_ + capacity_ / 2);
  try {
    reserve(better);
  } catch (const backend::memory_exceeded&) {
    if (better == wanted) throw;
    reserve(wanted);
  }
  if (entered_ != size_) enter(entered_);
  const std::uint64_t room = std::min({capacity_, slots_.size() / slots_per_record, most_});
  return {slots_.data(), slots_.size(), fields_.data(), count_.data(), room - threads, arity_};
}

}  // namespace gpulog::storage::gpu
