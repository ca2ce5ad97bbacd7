#include "backend/gpu/emulated/shared_memory.hpp"

#include <sys/mman.h>

#include <cstring>
#include <new>
#include <utility>

#include "backend/gpu/emulated/records.hpp"
#include "backend/gpu/emulated/sanitizer.hpp"

namespace gpulog::backend::gpu::emulated {

namespace {

constexpr std::size_t variable_alignment = 64;
constexpr std::size_t variable_red_zone = 64;
/// Space for the maximum that a block can request, plus the red zones of a few hundred variables.
constexpr std::size_t room = 2 * shared_bytes_per_block;

std::size_t rounded_to_alignment(std::size_t bytes) {
  return (bytes + variable_alignment - 1) / variable_alignment * variable_alignment;
}

}  // namespace

unsigned shared_variable::take_number() {
  static std::atomic<unsigned> last{0};
  const unsigned own = last.fetch_add(1) + 1;
  unsigned known = 0;
  return number_.compare_exchange_strong(known, own) ? own : known;
}

shared_memory::shared_memory(shared_memory&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)),
      end_(other.end_),
      asked_(other.asked_),
      dynamic_bytes_(other.dynamic_bytes_),
      places_(std::move(other.places_)),
      used_(std::move(other.used_)) {}

shared_memory::~shared_memory() {
  if (memory_ == nullptr) return;
  permit(memory_, room);
  ::munmap(memory_, room);
}

std::byte* shared_memory::make_place(unsigned number, const char* name, std::size_t bytes) {
  asked_ += bytes;
  if (asked_ > shared_bytes_per_block) {
    note_failure("shared memory: " + std::to_string(asked_) + " bytes are asked for together with " + name +
                 ", and a block has " + std::to_string(shared_bytes_per_block));
    abandon_launch();
  }
  if (memory_ == nullptr) {
    void* const made = ::mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) {
      note_failure("the host has no memory for the shared memory of a block");
      abandon_launch();
    }
    memory_ = static_cast<std::byte*>(made);
  }
  if (end_ == 0) {
    make_red_zone(memory_, variable_red_zone);
    end_ = variable_red_zone;
  }
  const std::size_t behind = rounded_to_alignment(bytes) + variable_red_zone - bytes;
  if (end_ + bytes + behind > room) {
    note_failure("shared memory: too many variables");
    abandon_launch();
  }
  std::byte* const place = memory_ + end_;
  permit(place, bytes);
  std::memset(place, fresh_byte, bytes);
  make_red_zone(place + bytes, behind);
  if (places_.size() <= number) places_.resize(number + 1);
  places_[number] = place;
  used_.push_back({number, name, end_, bytes});
  end_ += bytes + behind;
  return place;
}

std::string shared_memory::finish() {
  std::string found;
  for (const used_place& used : used_) {
    const std::byte* const place = memory_ + used.offset;
    const std::size_t behind = rounded_to_alignment(used.bytes) + variable_red_zone - used.bytes;
    if (!is_untouched(place + used.bytes, behind)) {
      found += found.empty() ? "" : ", ";
      found += std::string("behind ") + used.name + " (" + std::to_string(used.bytes) + " bytes)";
    }
    places_[used.number] = nullptr;
  }
  if (!used_.empty() && !is_untouched(memory_, variable_red_zone)) {
    found += found.empty() ? "" : ", ";
    found += std::string("in front of ") + used_.front().name;
  }
  used_.clear();
  end_ = 0;
  asked_ = 0;
  return found;
}

}  // namespace gpulog::backend::gpu::emulated
