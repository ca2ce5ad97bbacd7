#include "backend/gpu/emulated/launch.hpp"

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

#include "backend/gpu/emulated/block_runner.hpp"
#include "backend/gpu/emulated/runtime.hpp"
#include "backend/gpu/emulated/settings.hpp"

namespace gpulog::backend::gpu::emulated {

namespace {

[[noreturn]] void refuse(const char* name, const std::string& reason, call_site site) {
  throw device_error(std::string("emulated device: kernel ") + name + ": " + reason + ", at " + site.file + ":" +
                     std::to_string(site.line));
}

}  // namespace

unsigned resident_blocks(const char*, unsigned threads, std::uint64_t shared_bytes, call_site) {
  if (threads == 0 || threads > most_block_threads || shared_bytes > shared_bytes_per_block) return 0;
  const unsigned by_threads = threads_per_multiprocessor / threads;
  if (shared_bytes == 0) return by_threads;
  return static_cast<unsigned>(std::min<std::uint64_t>(by_threads, shared_bytes_per_block / shared_bytes));
}

void launch(const char* name, const shape& shape, stream_handle stream, std::function<void()> body, call_site site) {
  if (shape.blocks == 0) refuse(name, "a launch of no blocks", site);
  if (shape.threads == 0 || shape.threads > most_block_threads)
    refuse(name, "a launch of blocks of " + std::to_string(shape.threads) + " threads", site);
  if (shape.shared_bytes > shared_bytes_per_block) {
    refuse(name, std::to_string(shape.shared_bytes) + " bytes of shared memory are more than a block can have", site);
  }
  if (shape.is_cooperative &&
      shape.blocks > resident_blocks(name, shape.threads, shape.shared_bytes, site) * multiprocessors()) {
    refuse(name, std::to_string(shape.blocks) + " blocks do not run at a time", site);
  }
  static std::atomic<std::uint64_t> launches{0};
  const std::uint64_t number = launches.fetch_add(1, std::memory_order_relaxed);
  work item;
  item.name = name;
  item.is_kernel = true;
  item.call = [name, shape, body = std::move(body), site, number] {
    kernel_launch started{
        name, shape.blocks, shape.threads, shape.shared_bytes, shape.is_cooperative, body, site, number, seed(), {}};
    run_kernel(started);
  };
  runtime::instance().put(stream, std::move(item));
}

void enqueue(const char* name, stream_handle stream, std::function<void()> call) {
  work item;
  item.name = name;
  item.is_kernel = true;
  item.call = std::move(call);
  runtime::instance().put(stream, std::move(item));
}

}  // namespace gpulog::backend::gpu::emulated
