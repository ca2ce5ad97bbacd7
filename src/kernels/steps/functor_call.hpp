#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

/// Calls C functions whose parameter types are known only at run time.
///
/// The calling conventions of x86-64 (System V) and 64-bit ARM (AAPCS64) pass the first integers and pointers in
/// integer registers and the first floats in float registers, each kind in its own order. Further arguments go on the
/// stack, 8 bytes each, in the order of the parameters. So any function can be called as a function that takes all
/// integer registers, then all float registers, then a piece of stack.
namespace gpulog::kernels {

#if (defined(__x86_64__) && !defined(_WIN32)) || (defined(__aarch64__) && defined(__linux__))
constexpr bool has_c_calls = true;
#else
constexpr bool has_c_calls = false;
#endif
#if defined(__x86_64__)
constexpr std::size_t integer_registers = 6;
#else
constexpr std::size_t integer_registers = 8;
#endif
constexpr std::size_t float_registers = 8;
constexpr std::size_t stack_places = 16;

/// The arguments of a call.
class c_call {
 public:
  /// Returns false if there is no space for the argument.
  bool add(std::uintptr_t value) {
    if (integers_ == integer_registers) return push(value);
    integer_[integers_++] = value;
    return true;
  }
  /// Passed in the lower half of a register for doubles.
  bool add(float value) { return add_bits(std::bit_cast<std::uint32_t>(value)); }
  bool add(double value) { return add_bits(std::bit_cast<std::uint64_t>(value)); }

  template <class Result>
  [[nodiscard]] Result call(void* function) const {
    return call<Result>(function, std::make_index_sequence<integer_registers>(),
                        std::make_index_sequence<float_registers>(), std::make_index_sequence<stack_places>());
  }

 private:
  template <std::size_t>
  using integer = std::uintptr_t;
  template <std::size_t>
  using floating = double;

  template <class Result, std::size_t... Integers, std::size_t... Floats, std::size_t... Places>
  [[nodiscard]] Result call(void* function, std::index_sequence<Integers...>, std::index_sequence<Floats...>,
                            std::index_sequence<Places...>) const {
    using pointer = Result (*)(integer<Integers>..., floating<Floats>..., integer<Places>...);
    return reinterpret_cast<pointer>(function)(integer_[Integers]..., float_[Floats]..., stack_[Places]...);
  }

  bool add_bits(std::uint64_t bits) {
    if (floats_ == float_registers) return push(static_cast<std::uintptr_t>(bits));
    float_[floats_++] = std::bit_cast<double>(bits);
    return true;
  }
  bool push(std::uintptr_t value) {
    if (pushed_ == stack_places) return false;
    stack_[pushed_++] = value;
    return true;
  }

  std::array<std::uintptr_t, integer_registers> integer_{};
  std::array<double, float_registers> float_{};
  std::array<std::uintptr_t, stack_places> stack_{};
  std::size_t integers_ = 0;
  std::size_t floats_ = 0;
  std::size_t pushed_ = 0;
};

}  // namespace gpulog::kernels
