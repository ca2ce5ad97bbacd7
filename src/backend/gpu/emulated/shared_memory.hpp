#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// The memory shared by the threads of a block.
namespace gpulog::backend::gpu::emulated {

constexpr std::uint64_t shared_bytes_per_block = std::uint64_t{64} << 10;

/// A variable declared by GPULOG_SHARED. The address differs from block to block.
class shared_variable {
 public:
  constexpr shared_variable(const char* name, std::size_t bytes) : name_(name), bytes_(bytes) {}
  [[nodiscard]] const char* name() const { return name_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// 1-based; assigned on first use.
  [[nodiscard]] unsigned number() {
    const unsigned known = number_.load(std::memory_order_relaxed);
    return known != 0 ? known : take_number();
  }

 private:
  unsigned take_number();

  const char* name_;
  std::size_t bytes_;
  std::atomic<unsigned> number_{0};
};

class shared_memory {
 public:
  shared_memory() = default;
  ~shared_memory();
  shared_memory(shared_memory&& other) noexcept;
  shared_memory& operator=(shared_memory&&) = delete;

  /// Starts a block.
  void begin(std::uint64_t dynamic_bytes) { dynamic_bytes_ = dynamic_bytes; }
  [[nodiscard]] std::byte* place_of(shared_variable& variable) {
    const unsigned number = variable.number();
    if (number < places_.size() && places_[number] != nullptr) return places_[number];
    return make_place(number, variable.name(), variable.bytes());
  }
  [[nodiscard]] std::byte* dynamic_place() {
    if (!places_.empty() && places_[0] != nullptr) return places_[0];
    return make_place(0, "the dynamic shared memory", dynamic_bytes_);
  }
  /// Ends a block.
  /// @return the variables whose bounds were violated, or an empty text
  [[nodiscard]] std::string finish();

 private:
  struct used_place {
    unsigned number;
    const char* name;
    std::size_t offset;
    std::size_t bytes;
  };

  std::byte* make_place(unsigned number, const char* name, std::size_t bytes);

  std::byte* memory_ = nullptr;  // allocated on first use
  std::size_t end_ = 0;          // end of the used part
  std::uint64_t asked_ = 0;      // bytes requested by kernels, without red zones
  std::uint64_t dynamic_bytes_ = 0;
  std::vector<std::byte*> places_;  // by number; 0: the dynamic part
  std::vector<used_place> used_;
};

}  // namespace gpulog::backend::gpu::emulated
