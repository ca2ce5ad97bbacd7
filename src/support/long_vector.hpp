#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <new>
#include <type_traits>
#include <vector>

namespace gpulog {

/// Returns a number of elements as a size of this machine.
/// @throws std::bad_alloc if the addresses have 32 bits and the number has more
[[nodiscard]] constexpr std::size_t memory_size(std::uint64_t count) {
  if constexpr (sizeof(std::size_t) < sizeof(std::uint64_t)) {
    if (count > std::numeric_limits<std::size_t>::max()) throw std::bad_alloc();
  }
  return static_cast<std::size_t>(count);
}

/// A vector with sizes and places of 64 bits on machines with addresses of 32 bits.
template <class T>
class vector_of_long_places : public std::vector<T> {
  using base = std::vector<T>;

 public:
  vector_of_long_places() = default;
  template <std::integral Count>
  explicit vector_of_long_places(Count count) : base(size_of(count)) {}
  template <std::integral Count>
  vector_of_long_places(Count count, const T& element) : base(size_of(count), element) {}
  template <class Place>
  requires(!std::integral<Place>) vector_of_long_places(Place first, Place last) : base(first, last) {}

  template <std::integral Place>
  decltype(auto) operator[](Place place) {
    return base::operator[](static_cast<std::size_t>(place));
  }
  template <std::integral Place>
  decltype(auto) operator[](Place place) const {
    return base::operator[](static_cast<std::size_t>(place));
  }
  template <std::integral Count>
  void resize(Count count) {
    base::resize(size_of(count));
  }
  template <std::integral Count>
  void reserve(Count count) {
    base::reserve(size_of(count));
  }
  template <std::integral Count>
  void assign(Count count, const T& element) {
    base::assign(size_of(count), element);
  }

 private:
  template <std::integral Count>
  static std::size_t size_of(Count count) {
    return memory_size(static_cast<std::uint64_t>(count));
  }
};

/// A vector whose sizes and places have 64 bits.
template <class T>
using long_vector =
    std::conditional_t<sizeof(std::size_t) == sizeof(std::uint64_t), std::vector<T>, vector_of_long_places<T>>;

}  // namespace gpulog
