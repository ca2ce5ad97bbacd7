#include "backend_results.hpp"

#include <algorithm>
#include <cstring>
#include <random>

#include "backend/cpu/cpu_backend.hpp"
#include "backend/cpu/tbb_backend.hpp"
#include "backend/gpu/gpu_backend.hpp"
#include "backend/gpu/host_device.hpp"

namespace gpulog::backend {

namespace {

using words = std::vector<std::uint64_t>;

struct visit {
  std::uint64_t* out;
  GPULOG_HOST_DEVICE void operator()(std::uint64_t i) const { out[i] += i + 1; }
};
struct visit_tile {
  std::uint64_t* out;
  std::uint64_t most;
  GPULOG_HOST_DEVICE void operator()(unsigned, std::uint64_t begin, std::uint64_t end) const {
    for (std::uint64_t i = begin; i < end && end - begin <= most; ++i) out[i] += i + 1;
  }
};
struct element {
  const std::uint64_t* in;
  GPULOG_HOST_DEVICE std::uint64_t operator()(std::uint64_t i) const { return in[i] % 1000; }
};
struct is_odd {
  const std::uint64_t* in;
  GPULOG_HOST_DEVICE bool operator()(std::uint64_t i) const { return in[i] % 2 == 1; }
};
struct less {
  GPULOG_HOST_DEVICE bool operator()(std::uint64_t a, std::uint64_t b) const { return a < b; }
};

/// Arrays of a machine, as words of the host.
struct host_arrays {
  host_memory memory;
  void put(array<std::uint64_t>& to, const words& from) { std::copy(from.begin(), from.end(), to.data()); }
  words get(const std::uint64_t* from, std::uint64_t n) { return words(from, from + n); }
};
struct device_arrays {
  gpu::device_context context{0};
  gpu::device_memory memory{context, 0};
  void put(array<std::uint64_t>& to, const words& from) {
    gpu::copy_async(to.data(), from.data(), from.size() * sizeof(std::uint64_t), gpu::direction::host_to_device,
                    context.stream());
  }
  words get(const std::uint64_t* from, std::uint64_t n) {
    words result(n);
    if (n != 0) {
      gpu::copy_async(result.data(), from, n * sizeof(std::uint64_t), gpu::direction::device_to_host, context.stream());
    }
    context.synchronize();
    return result;
  }
};

template <execution_backend Backend, class Arrays>
backend_results results_of(Backend& backend, Arrays& arrays, std::uint64_t n, unsigned first_bit, unsigned last_bit) {
  std::mt19937_64 random(n + 1);
  words source(n);
  for (std::uint64_t& word : source) word = random();
  words sorted_source = source;
  std::sort(sorted_source.begin(), sorted_source.begin() + static_cast<std::ptrdiff_t>(n / 3));
  std::sort(sorted_source.begin() + static_cast<std::ptrdiff_t>(n / 3), sorted_source.end());

  const auto make = [&] { return array<std::uint64_t>(arrays.memory, n + 1); };
  array<std::uint64_t> in = make();
  array<std::uint64_t> halves = make();
  array<std::uint64_t> out = make();
  array<std::uint64_t> other = make();
  arrays.put(in, source);
  arrays.put(halves, sorted_source);
  const auto clear = [&] { backend.fill(out.data(), n + 1, std::uint64_t{0}); };

  backend_results made;
  clear();
  backend.for_each(n, visit{out.data()});
  made.visited = arrays.get(out.data(), n);
  clear();
  constexpr std::uint64_t tile = 33;
  backend.for_each_tile(n, tile, visit_tile{out.data(), tile});
  made.visited_by_tiles = arrays.get(out.data(), n);
  made.sum = backend.reduce(n, element{in.data()});
  made.total = backend.exclusive_scan(n, element{in.data()}, out.data());
  made.scanned = arrays.get(out.data(), n + 1);
  backend.copy(in.data(), n, out.data());
  made.copied = arrays.get(out.data(), n);
  made.sorted = arrays.get(backend.radix_sort(out.data(), other.data(), n, first_bit, last_bit), n);
  backend.merge(halves.data(), n / 3, halves.data() + n / 3, n - n / 3, out.data(), less());
  made.merged = arrays.get(out.data(), n);
  const std::uint64_t selected = backend.select_if(n, is_odd{in.data()}, out.data());
  made.selected = arrays.get(out.data(), selected);
  backend.gather(in.data(), out.data(), selected, other.data());
  made.gathered = arrays.get(other.data(), selected);
  backend.fill(out.data(), n, std::uint64_t{7});
  made.filled = arrays.get(out.data(), n);
  return made;
}

}  // namespace

backend_results results_on_host(std::uint64_t n, unsigned first_bit, unsigned last_bit) {
  cpu::serial_backend backend;
  host_arrays arrays;
  return results_of(backend, arrays, n, first_bit, last_bit);
}

backend_results results_on_device(std::uint64_t n, unsigned first_bit, unsigned last_bit) {
  device_arrays arrays;
  gpu::gpu_backend backend(arrays.context, arrays.memory);
  return results_of(backend, arrays, n, first_bit, last_bit);
}

}  // namespace gpulog::backend
