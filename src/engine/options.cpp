#include "gpulog/options.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

#if defined(GPULOG_WITH_GPU)
#include "exec/gpu/gpu_executor.hpp"
#endif

namespace gpulog {

std::optional<backend_kind> backend_from_name(std::string_view name) {
  if (name == "auto") return backend_kind::automatic;
  if (name == "cpu") return backend_kind::cpu;
  if (name == "gpu") return backend_kind::gpu;
#if defined(GPULOG_WITH_GPU)
  const std::string_view vendor = exec::gpu_vendor();
  const auto is_lower_case_of = [](char given, char upper) {
    return given == (upper >= 'A' && upper <= 'Z' ? upper - 'A' + 'a' : upper);
  };
  if (std::equal(name.begin(), name.end(), vendor.begin(), vendor.end(), is_lower_case_of)) return backend_kind::gpu;
#endif
  return std::nullopt;
}

std::optional<storage_kind> storage_from_name(std::string_view name) {
  if (name == "auto") return storage_kind::automatic;
  if (name == "hisa") return storage_kind::hisa;
  if (name == "hash") return storage_kind::hash;
  if (name == "bits") return storage_kind::bits;
  if (name == "words") return storage_kind::words;
  return std::nullopt;
}

std::optional<std::uint64_t> bytes_from_text(std::string_view text) {
  std::uint64_t count = 0;
  const char* const last = text.data() + text.size();
  const auto [end, failure] = std::from_chars(text.data(), last, count);
  if (failure != std::errc{} || last - end > 1) return std::nullopt;
  if (end == last) return count;
  constexpr std::string_view upper = "KMGT";
  constexpr std::string_view lower = "kmgt";
  std::size_t power = upper.find(*end);
  if (power == std::string_view::npos) power = lower.find(*end);
  if (power == std::string_view::npos) return std::nullopt;
  const unsigned shift = 10 * (static_cast<unsigned>(power) + 1);
  if (count > std::numeric_limits<std::uint64_t>::max() >> shift) return std::nullopt;
  return count << shift;
}

std::vector<std::string> built_backends() {
#if defined(GPULOG_WITH_GPU)
  return {"cpu", "gpu"};
#else
  return {"cpu"};
#endif
}

std::string built_gpu() {
#if defined(GPULOG_WITH_GPU)
  return std::string(exec::gpu_vendor()) + ", architectures " + exec::gpu_architectures();
#else
  return {};
#endif
}

std::string_view version() { return GPULOG_VERSION; }

}  // namespace gpulog
