#pragma once

#include <concepts>
#include <cstdint>

namespace gpulog::backend {

/// Archetypes of functors for checking the concept below.
namespace archetype {
struct indexed {
  void operator()(std::uint64_t) const {}
};
struct block {
  void operator()(unsigned, std::uint64_t, std::uint64_t) const {}
};
struct transform {
  std::uint64_t operator()(std::uint64_t i) const { return i; }
};
struct predicate {
  bool operator()(std::uint64_t) const { return true; }
};
struct less {
  bool operator()(std::uint32_t a, std::uint32_t b) const { return a < b; }
};
}  // namespace archetype

/// The requirements on a machine that runs gpulog: about a dozen bulk operations. Each is complete when it returns, or
/// ordered after earlier operations of the same backend until synchronize() (docs/adr/0001-backend-interface.md).
/// Functors are trivially copyable, named, and callable on the backend's processors.
template <class Backend>
concept execution_backend = requires(Backend backend, std::uint64_t n, const std::uint32_t* in, std::uint32_t* out,
                                     std::uint64_t* sums, std::uint64_t* keys) {
  { backend.workers() } -> std::convertible_to<unsigned>;
  // f(i) for i in [0,n).
  backend.for_each(n, archetype::indexed{});
  // f(worker, begin, end) over [0,n) in ranges of at most the given length, with worker < workers(). A worker runs one
  // range at a time.
  backend.for_each_tile(n, n, archetype::block{});
  // The sum of f(i).
  { backend.reduce(n, archetype::transform{}) } -> std::same_as<std::uint64_t>;
  // sums[i] = f(0) + ... + f(i-1) for i in [0,n]; returns the total, sums[n].
  { backend.exclusive_scan(n, archetype::transform{}, sums) } -> std::same_as<std::uint64_t>;
  // Stable sort of n keys by bits [first, last); returns whichever of keys and scratch holds the result.
  { backend.radix_sort(keys, keys, n, 0U, 64U) } -> std::same_as<std::uint64_t*>;
  // Stable merge of two sorted ranges (path merge).
  backend.merge(in, n, in, n, out, archetype::less{});
  // Writes the numbers i in [0,n) that satisfy the predicate, ascending; returns the number of matches.
  { backend.select_if(n, archetype::predicate{}, out) } -> std::same_as<std::uint64_t>;
  // out[i] = in[positions[i]].
  backend.gather(in, in, n, out);
  backend.fill(out, n, std::uint32_t{});
  backend.copy(in, n, out);
  backend.synchronize();
};

}  // namespace gpulog::backend
